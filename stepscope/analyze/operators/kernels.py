"""What ran on the device in the windows: kernels and copies, and the lines that launched them."""

import collections
import dataclasses
from typing import Final, Literal

from stepscope.analyze.operators.operators import (
    Part,
    Place,
    location_of,
    parts_of,
    place_of,
    process_with_windows,
    window_answer,
)
from stepscope.analyze.run import all_notes
from stepscope.analyze.traces.operator_lines import source_place
from stepscope.importers.trace import Category
from stepscope.model.ops import KernelRow, KernelsAnswer
from stepscope.store.reader import ProcessData, Run

Kind = Literal["kernel", "memcpy", "memset"]
_KINDS: Final[dict[int, Kind]] = {
    Category.KERNEL: "kernel",
    Category.MEMCPY: "memcpy",
    Category.MEMSET: "memset",
}
_NONE: Final = "No operators were recorded, so nothing is known about a device."
_NO_DEVICE: Final = "Nothing ran on a device in the operator windows."


@dataclasses.dataclass
class _Row:
    calls: int = 0
    total_ns: int = 0
    operators: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    lines: collections.Counter[Place] = dataclasses.field(default_factory=collections.Counter)


def kernels(run: Run) -> KernelsAnswer:
    """The most time first."""
    process = process_with_windows(run)
    if process is None:
        return KernelsAnswer(kernels=[], notes=[*all_notes(run), _NONE])
    parts, notes = parts_of(process)
    rows: dict[tuple[str, Kind, int], _Row] = collections.defaultdict(_Row)
    for part in parts:
        _add(rows, process, part)
    if not rows:
        notes.append(_NO_DEVICE)
    whole_ns = max(1, sum(row.total_ns for row in rows.values()))
    answers = [_answer(run, process, key, row, whole_ns) for key, row in rows.items()]
    answers.sort(key=lambda row: (-row.total_ns, row.name))
    return KernelsAnswer(
        kernels=answers,
        windows=[window_answer(run, process, part) for part in parts],
        notes=[*all_notes(run), *notes],
    )


def _add(rows: dict[tuple[str, Kind, int], _Row], process: ProcessData, part: Part) -> None:
    trace, events = part.tree.trace, part.tree.events
    device, operators = part.tree.device, part.tree.launcher
    names, categories = device["name"].tolist(), device["category"].tolist()
    columns = names, categories, device["device"].tolist(), device["duration_ns"].tolist()
    origins = device["framework_op"].tolist(), device["source"].tolist()
    for name, category, number, lasted_ns, operator, named, source in zip(
        *columns, operators.tolist(), *origins, strict=True
    ):
        row = rows[trace.names[name], _KINDS[category], number]
        row.calls += 1
        row.total_ns += lasted_ns
        where = (0, 0)
        if operator >= 0:
            row.operators[trace.names[events["name"][operator]]] += lasted_ns
            where = int(part.places.code[operator]), int(part.places.line[operator])
        elif named >= 0:
            row.operators[trace.names[named]] += lasted_ns
        if where[0] == 0 and source >= 0:
            where = source_place(process, trace, source)
        if where[0]:
            row.lines[place_of(part, *where)] += lasted_ns


def _answer(
    run: Run, process: ProcessData, key: tuple[str, Kind, int], row: _Row, whole_ns: int
) -> KernelRow:
    name, kind, device = key
    place = row.lines.most_common(1)[0][0] if row.lines else None
    return KernelRow(
        name=name,
        kind=kind,
        device=device if device >= 0 else None,
        calls=row.calls,
        total_ns=row.total_ns,
        mean_ns=row.total_ns // row.calls,
        share=row.total_ns / whole_ns,
        operator=row.operators.most_common(1)[0][0] if row.operators else None,
        location=location_of(run, process, place) if place is not None else None,
    )
