"""Copies by kind: how many, how large, how fast, and when."""

import collections
import dataclasses
from typing import Final

import numpy as np

from stepscope.analyze.traces.devices import PARTS, Table, Work, parts_of_time
from stepscope.importers.trace import Category
from stepscope.model.device import CopyRow

_WORDS: Final = ("Memcpy ", "MemCpy ")


@dataclasses.dataclass
class _Row:
    calls: int = 0
    total_ns: int = 0
    size_bytes: int = 0
    over_time: Table = dataclasses.field(default_factory=lambda: np.zeros(PARTS))


def copies(works: list[Work]) -> list[CopyRow]:
    """The longest first; memset is one of the kinds. Over time: of the first window."""
    rows: dict[str, _Row] = collections.defaultdict(_Row)
    for index, work in enumerate(works):
        for name in np.unique(_copies(work)["name"]).tolist():
            row = rows[_kind(work.trace.names[name])]
            events = _copies(work)[_copies(work)["name"] == name]
            row.calls += len(events)
            row.total_ns += int(events["duration_ns"].sum())
            row.size_bytes += int(events["bytes"].sum())
            if index == 0:
                row.over_time += _bytes_over_time(events, parts_of_time(works))
    answers = [_answer(kind, row) for kind, row in rows.items()]
    return sorted(answers, key=lambda row: (-row.total_ns, row.kind))


def _copies(work: Work) -> Table:
    events: Table = work.events[
        np.isin(work.events["category"], [Category.MEMCPY, Category.MEMSET])
    ]
    return events


def _kind(name: str) -> str:
    return next((name.removeprefix(word) for word in _WORDS if name.startswith(word)), name)


def _bytes_over_time(events: Table, bounds: Table) -> Table:
    """A copy moves its bytes evenly over its time."""
    start = events["start_ns"].astype(np.float64)[:, None]
    lasted = np.maximum(events["duration_ns"].astype(np.float64), 1.0)[:, None]
    parts = np.zeros(PARTS)
    for chunk in np.array_split(np.arange(len(events)), max(1, len(events) // 10_000)):
        done = np.clip((bounds[None, :] - start[chunk]) / lasted[chunk], 0.0, 1.0)
        parts += (np.diff(done, axis=1) * events["bytes"][chunk][:, None]).sum(axis=0)
    return parts


def _answer(kind: str, row: _Row) -> CopyRow:
    is_known = row.size_bytes > 0
    return CopyRow(
        kind=kind, calls=row.calls, total_ns=row.total_ns,
        size_bytes=row.size_bytes if is_known else None,
        bytes_per_s=row.size_bytes / max(1, row.total_ns) * 1e9 if is_known else None,
        over_time=[round(each) for each in row.over_time.tolist()] if is_known else [],
    )  # fmt: skip
