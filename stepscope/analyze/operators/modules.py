"""Operators by module: the columns of `show ops`, with a row for each place in a model."""

import collections

import numpy as np

from stepscope.analyze.grouping import sums
from stepscope.analyze.operators.operators import (
    Part,
    Row,
    add_places,
    columns_of,
    in_rows,
    parts_of,
    process_with_windows,
)
from stepscope.analyze.traces.module_calls import ModuleCalls, Path, module_calls
from stepscope.model.ops import OpsAnswer
from stepscope.store.reader import Run

_BETWEEN = " › "
_OUTSIDE = "(outside modules)"
_NONE = (
    "It is not known which module an operator ran in: that needs torch, and an operator window of "
    "stepscope or a trace made with with_stack=True."
)


def ops_by_module(run: Run) -> OpsAnswer:
    """Own time is that of the operators in a module itself, total that with the modules inside."""
    process = process_with_windows(run)
    parts, notes = parts_of(process) if process is not None else ([], [])
    known = [
        (part, calls)
        for part in parts
        if process is not None
        and (calls := module_calls(process, part.window, part.tree.trace)) is not None
    ]
    rows: dict[Path, Row] = collections.defaultdict(Row)
    for part, calls in known:
        _add(rows, part, calls)
    _add_what_is_inside(rows)
    named = {(_BETWEEN.join(path) or _OUTSIDE, ""): row for path, row in rows.items()}
    return in_rows(run, process, named, [part for part, _ in known], notes if known else [_NONE])


def _add(rows: dict[Path, Row], part: Part, calls: ModuleCalls) -> None:
    group, count = calls.of_operator, len(calls.paths)
    columns = columns_of(part.tree)
    operators = columns["calls"][group == 0].sum(keepdims=True)
    totals = {name: sums(group, values, count) for name, values in columns.items()}
    totals["calls"] = np.append(operators, calls.calls[1:])  # of modules, where there is one
    for name, total in totals.items():
        for path, number in zip(calls.paths, total.tolist(), strict=True):
            setattr(rows[path], name, getattr(rows[path], name) + number)
    add_places([rows[path] for path in calls.paths], part, group)


def _add_what_is_inside(rows: dict[Path, Row]) -> None:
    """Operators nest, so their own totals would count twice."""
    for row in rows.values():
        row.total_cpu_ns, row.total_device_ns = row.self_cpu_ns, row.self_device_ns
        row.total_cpu_bytes = row.self_cpu_bytes
    for path, row in rows.items():
        for depth in range(1, len(path)):
            above = rows[path[:depth]]
            above.total_cpu_ns += row.self_cpu_ns
            above.total_device_ns += row.self_device_ns
            above.total_cpu_bytes += row.self_cpu_bytes
