"""Calls in which the host waits for the device, and what that costs.

The time in the call is the host's; the device pays afterwards, if nothing is queued when the call
returns: it is idle until the host has launched the next work.
"""

import collections
import dataclasses

import numpy as np

from stepscope.analyze.device.operators_around import operators_around
from stepscope.analyze.intervals import overlap_ns
from stepscope.analyze.traces.devices import Work
from stepscope.clock import Ints
from stepscope.model.device import SyncRow


@dataclasses.dataclass
class _Row:
    calls: int = 0
    total_ns: int = 0
    busy_ns: int = 0
    idle_after_ns: int = 0
    operators: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)


def synchronisations(works: list[Work]) -> list[SyncRow]:
    """The longest first."""
    rows: dict[str, _Row] = collections.defaultdict(_Row)
    for work in works:
        _add(rows, work)
    answers = [
        SyncRow(
            name=name,
            operator=row.operators.most_common(1)[0][0] if row.operators else None,
            calls=row.calls, total_ns=row.total_ns, busy_ns=row.busy_ns,
            idle_after_ns=row.idle_after_ns,
        )
        for name, row in rows.items()
    ]  # fmt: skip
    return sorted(answers, key=lambda row: (-row.total_ns, row.name))


def _add(rows: dict[str, _Row], work: Work) -> None:
    chosen = np.flatnonzero(work.is_wait)
    calls = work.calls[chosen]
    if not len(calls) or not len(work.busy[0]):
        return
    start, end = calls["start_ns"], work.call_end_ns[chosen]
    busy, idle = overlap_ns(start, end, work.busy), _idle_after(start, end, work.busy)
    columns = calls["name"].tolist(), calls["duration_ns"].tolist(), busy.tolist(), idle.tolist()
    for name, lasted, busy_ns, idle_ns, operator in zip(
        *columns, operators_around(work.trace, calls), strict=True
    ):
        row = rows[work.trace.names[name]]
        row.calls += 1
        row.total_ns += lasted
        row.busy_ns += busy_ns
        row.idle_after_ns += idle_ns
        if operator is not None:
            row.operators[operator] += lasted


def _idle_after(start_ns: Ints, end_ns: Ints, busy: tuple[Ints, Ints]) -> Ints:
    """From the end of each call to the next work or the next such call; 0 if the device works then,
    or if it has not worked before, or never does again."""
    following = np.searchsorted(busy[0], end_ns)
    runs = (following > 0) & (busy[1][np.maximum(following - 1, 0)] > end_ns)
    known = (following > 0) & (following < len(busy[0])) & ~runs
    until = busy[0][np.minimum(following, len(busy[0]) - 1)]
    in_order = np.sort(start_ns)
    call = np.searchsorted(in_order, end_ns)
    until = np.where(call < len(call), np.minimum(until, in_order[np.minimum(call, len(call) - 1)]),
                     until)  # fmt: skip
    return np.where(known, np.maximum(until - end_ns, 0), 0)
