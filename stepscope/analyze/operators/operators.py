"""Operators in the windows: torch's columns, and the lines that called or made them."""

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.analyze.grouping import grouped, sums
from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.operators.flops import flops
from stepscope.analyze.run import all_notes, code_location, select, shown_path
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.analyze.traces.marks import STEP
from stepscope.analyze.traces.operator_lines import Places, place_operators, source_place
from stepscope.analyze.traces.operator_tree import OpTree, op_tree, without_launch
from stepscope.analyze.traces.windows import Window, read_window, steps_begun, windows
from stepscope.importers.trace import Category
from stepscope.model import Location
from stepscope.model.ops import OpPlace, OpRow, OpsAnswer, OpsWindow
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData, Run

_MEMORY: Final = "[memory]"
_Key = tuple[str, str]  # name, dims
Place = tuple[int | str, int]  # code, or a file named by the trace; line
_NONE: Final = (
    "No operators were recorded: the script used neither torch nor TensorFlow nor JAX, ended "
    "before its sixth step, or ran with --ops off. 'stepscope run --ops all' records them from the "
    "start."
)
_WHY: Final = "operators are not recorded"  # in the notes of the recorders


@dataclasses.dataclass
class Row:
    calls: int = 0
    self_cpu_ns: int = 0
    total_cpu_ns: int = 0
    self_device_ns: int = 0
    total_device_ns: int = 0
    self_cpu_bytes: int = 0
    total_cpu_bytes: int = 0
    self_device_bytes: int = 0
    flops: int = 0
    places: dict[Place, list[int]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Part:
    """What was read from one window."""

    window: Window
    tree: OpTree
    places: Places


def ops(run: Run, by_shape: bool = False) -> OpsAnswer:
    """Of the main process, or the only one left in the run; the most own time first."""
    process = process_with_windows(run)
    if process is None:
        return OpsAnswer(ops=[], windows=[], notes=_notes_without_windows(run))
    parts, notes = parts_of(process)
    rows: dict[_Key, Row] = collections.defaultdict(Row)
    for part in parts:
        _add(rows, part, by_shape)
        _add_device_only(rows, process, part)
    return in_rows(run, process, rows, parts, notes, by_shape=by_shape)


def in_rows(
    run: Run, process: ProcessData | None, rows: dict[_Key, Row], parts: Sequence[Part],
    notes: list[str], *, by_shape: bool = False,
) -> OpsAnswer:  # fmt: skip
    """The most own time first."""
    has_device = any(part.tree.trace.has_device for part in parts)
    has_memory = any(part.tree.trace.has_memory for part in parts)
    answers = [
        _answer(run, process, key, row, by_shape, has_device, has_memory)
        for key, row in rows.items()
        if process is not None
    ]
    answers.sort(key=lambda row: (-row.self_cpu_ns, -(row.self_device_ns or 0), row.name))
    return OpsAnswer(
        ops=answers,
        windows=[window_answer(run, process, part) for part in parts if process is not None],
        notes=[*all_notes(run), *notes],
        self_cpu_ns=sum(row.self_cpu_ns for row in answers),
        self_device_ns=sum(row.self_device_ns or 0 for row in answers),
    )


def _notes_without_windows(run: Run) -> list[str]:
    """A possible reason is given only if the notes do not have the actual one."""
    notes = all_notes(run)
    is_explained = any(_WHY in note.lower() for note in notes)
    return notes if is_explained else [*notes, _NONE]


def process_with_windows(run: Run) -> ProcessData | None:
    """The main process; if it has none, the first that has some."""
    chosen = select(run)
    candidates = [chosen, *run.processes] if chosen is not None else run.processes
    return next((each for each in candidates if each is not None and windows(each)), None)


def parts_of(process: ProcessData) -> tuple[list[Part], list[str]]:
    """The windows that can be read, and notes about them."""
    parts, notes = [], []
    for window in windows(process):
        trace = read_window(window)
        if isinstance(trace, str):
            notes.append(trace)
            continue
        tree = op_tree(trace)
        notes += [*trace.notes, *without_launch(tree)]
        parts.append(Part(window, tree, place_operators(process, window, trace)))
    return parts, notes


def _add(rows: dict[_Key, Row], part: Part, by_shape: bool) -> None:
    tree, trace = part.tree, part.tree.trace
    names, shapes = tree.events["name"], tree.events["shapes"]
    group, first = grouped(names, shapes) if by_shape else grouped(names)
    totals = {name: sums(group, values, len(first)) for name, values in columns_of(tree).items()}
    keys = [_key(part, int(index), by_shape) for index in first.tolist()]
    for number, key in enumerate(keys):
        row = rows[key]
        for name, total in totals.items():
            setattr(row, name, getattr(row, name) + int(total[number]))
    _add_flops(rows, part, by_shape)
    add_places([rows[key] for key in keys], part, group)
    if trace.has_memory and tree.outside_bytes[2]:
        row = rows[_MEMORY, ""]
        row.calls += int(tree.outside_bytes[2])
        row.self_cpu_bytes += int(tree.outside_bytes[0])
        row.total_cpu_bytes += int(tree.outside_bytes[0])
        row.self_device_bytes += int(tree.outside_bytes[1])


def columns_of(tree: OpTree) -> dict[str, npt.NDArray[Any]]:
    return {
        "calls": np.ones(len(tree), np.int64),
        "self_cpu_ns": tree.self_ns,
        "total_cpu_ns": tree.events["duration_ns"],
        "self_device_ns": tree.device_ns,
        "total_device_ns": tree.total_device_ns,
        "self_cpu_bytes": tree.self_host_bytes,
        "total_cpu_bytes": tree.host_bytes,
        "self_device_bytes": tree.self_device_bytes,
    }


def _key(part: Part, index: int, by_shape: bool) -> _Key:
    trace, event = part.tree.trace, part.tree.events[index]
    name = trace.names[event["name"]]
    name = "ProfilerStep*" if name.startswith(STEP) else name
    return name, trace.shapes[event["shapes"]].dims if by_shape else ""


def _add_flops(rows: dict[_Key, Row], part: Part, by_shape: bool) -> None:
    trace, events = part.tree.trace, part.tree.events
    group, first = grouped(events["name"], events["shapes"])
    for event, count in zip(events[first], np.bincount(group).tolist(), strict=True):
        name, shapes = trace.names[event["name"]], trace.shapes[event["shapes"]]
        one = flops(name, shapes)
        if one:
            rows[name, shapes.dims if by_shape else ""].flops += one * count


def add_places(rows: Sequence[Row], part: Part, group: npt.NDArray[np.int64]) -> None:
    """The lines of each group's operators; `rows` has an entry for each group."""
    known = np.flatnonzero(part.places.code != 0)
    if not len(known):
        return
    columns = group[known], part.places.code[known], part.places.line[known]
    pair, first = grouped(*columns)
    calls = np.bincount(pair)
    self_ns = sums(pair, part.tree.self_ns[known], len(first))
    for number, index in enumerate(first.tolist()):
        where = place_of(part, int(columns[1][index]), int(columns[2][index]))
        place = rows[columns[0][index]].places.setdefault(where, [0, 0])
        place[0] += int(calls[number])
        place[1] += int(self_ns[number])


def _add_device_only(rows: dict[_Key, Row], process: ProcessData, part: Part) -> None:
    """What ran on a device for an operator that is not in the trace, but is named there."""
    trace = part.tree.trace
    device = part.tree.device
    device = device[(part.tree.launcher < 0) & (device["framework_op"] >= 0)]
    columns = device["framework_op"].tolist(), device["source"].tolist()
    for name, source, lasted_ns in zip(*columns, device["duration_ns"].tolist(), strict=True):
        row = rows[trace.names[name], ""]
        row.calls += 1
        row.self_device_ns += lasted_ns
        row.total_device_ns += lasted_ns
        if source >= 0:
            where = place_of(part, *source_place(process, trace, source))
            row.places.setdefault(where, [0, 0])[0] += 1


def _answer(
    run: Run, process: ProcessData, key: _Key, row: Row, by_shape: bool, has_device: bool,
    has_memory: bool,
) -> OpRow:  # fmt: skip
    found = _places(run, process, row)
    main = max(found, key=lambda each: (each[1].self_cpu_ns, each[1].calls), default=None)
    return OpRow(
        name=key[0],
        input_shapes=_dims(key[1]) if by_shape else None,
        calls=row.calls,
        self_cpu_ns=row.self_cpu_ns,
        total_cpu_ns=row.total_cpu_ns,
        self_device_ns=row.self_device_ns if has_device else None,
        total_device_ns=row.total_device_ns if has_device else None,
        self_cpu_bytes=row.self_cpu_bytes if has_memory else None,
        self_device_bytes=row.self_device_bytes if has_memory and has_device else None,
        location=main[0] if main else None,
        locations=[place for _, place in found],
        total_cpu_bytes=row.total_cpu_bytes if has_memory else None,
        flops=row.flops or None,
    )


def _dims(text: str) -> list[Any]:
    try:
        found = msgspec.json.decode(text) if text else []
    except msgspec.DecodeError:
        return []
    return found if isinstance(found, list) else []


def place_of(part: Part, code: int, line: int) -> Place:
    """A place that is valid across windows: the sources of a trace are its own."""
    return (code if code >= 0 else part.tree.trace.sources[-1 - code][0].file), line


def location_of(run: Run, process: ProcessData, place: Place) -> Location | None:
    where, line = place
    if isinstance(where, str):
        return Location(file=shown_path(run, where), line=line, function=None)
    return code_location(run, process, where, line)


def _places(run: Run, process: ProcessData, row: Row) -> list[tuple[Location, OpPlace]]:
    found = []
    for place, (calls, self_ns) in row.places.items():
        location = location_of(run, process, place)
        if location is not None:
            line = OpPlace(file=location.file, line=location.line, calls=calls, self_cpu_ns=self_ns)
            found.append((location, line))
    return sorted(found, key=lambda each: (-each[1].self_cpu_ns, each[1].file, each[1].line))


def window_answer(run: Run, process: ProcessData, part: Part) -> OpsWindow:
    window, events = part.window, part.tree.events
    start_ns, end_ns = window.start_ns, window.end_ns
    if start_ns is None or end_ns is None:
        first = int(events["start_ns"].min(initial=2**62)) if len(events) else 0
        last = int(part.tree.end_ns.max(initial=first))
        return OpsWindow(file=window.path.name, start_ns=None, duration_ns=last - first, steps=None,
                         operators=_operators(part), of_script=True, slowdown=None)  # fmt: skip
    steps = find_steps(run, process)
    begun = steps_begun(window, steps.start_ns)
    return OpsWindow(
        file=window.path.name,
        start_ns=start_ns - process.start_ns,
        duration_ns=end_ns - start_ns,
        steps=int(begun.sum()),
        operators=_operators(part),
        of_script=window.is_scripts,
        slowdown=_slowdown(process, steps, begun),
    )


def _operators(part: Part) -> int:
    return int((part.tree.events["category"] == Category.OP).sum())


def _slowdown(
    process: ProcessData, steps: FoundSteps, begun: npt.NDArray[np.bool_]
) -> float | None:
    """How much longer a step in the window takes than a measured one, by the medians. Opening
    and closing the window takes longer than all the rest, but slows down no operator."""
    ours = union(*process.spans.of(SpanCategory.PROFILER).interval_ns)
    lasted = steps.duration_ns - overlap_ns(steps.start_ns, steps.end_ns, ours)
    measured = lasted[steps.is_measured & ~begun]
    if not len(measured) or not begun.any():
        return None
    return float(np.median(lasted[begun]) / np.median(measured))
