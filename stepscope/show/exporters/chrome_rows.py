"""What we recorded of a process, as the rows of a timeline: one a thread and kind of span."""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.show.exporters.trace_events import text
from stepscope.store.events import MOST_SAMPLES
from stepscope.store.format import SpanCategory

if TYPE_CHECKING:
    from stepscope.analyze.phases.framework_spans import Spans as PhaseSpans
    from stepscope.store.events import Spans
    from stepscope.store.reader import ProcessData, Run

Span = tuple[int, int, str, dict[str, Any]]  # start and end in ns, name, arguments

_OTHER_ROWS: Final = {
    SpanCategory.REGION: "regions",
    SpanCategory.ACTION: "actions",
    SpanCategory.STAGE: "input stages",
    SpanCategory.IMPORT: "imports",
}
_WITH_SAMPLES: Final = (SpanCategory.INPUT, SpanCategory.FORWARD)
_PIECE: Final = 10_000  # spans that are objects at a time


@dataclasses.dataclass(frozen=True)
class Row:
    """Spans of one kind on one thread, by start; what begins together, longest first."""

    name: str
    category: str
    spans: Iterator[Span]


def rows(run: "Run", process: "ProcessData") -> Iterator[Row]:
    """Steps first, then each thread's."""
    from stepscope.analyze.steps.find_steps import find_steps

    steps = find_steps(run, process)
    yield Row("steps", "step", _steps(run, process))
    threads = np.unique(np.append(process.spans.thread, process.main_thread)).tolist()
    trained = steps.thread if len(steps) else process.main_thread
    for thread in sorted(threads, key=lambda each: (each != trained, each)):
        name = _thread_name(process, thread)
        yield Row(f"{name}: phases", "phase", _phases(run, process, thread, trained))
        for category, what in _OTHER_ROWS.items():
            yield Row(f"{name}: {what}", what, _recorded(process, thread, category))
    for thread in np.unique(process.line_begins.thread).tolist():
        name = _thread_name(process, thread)
        yield Row(f"{name}: lines", "line", _lines(run, process, thread))
    yield Row("operator windows", "window", _windows(process))


def memory_points(process: "ProcessData") -> Iterator[tuple[int, int]]:
    """When, and how many bytes were resident."""
    told = process.memory[process.memory.is_plausible]
    yield from zip(told.at_ns.tolist(), told.resident_bytes.tolist(), strict=True)


def thread_of_native(process: "ProcessData", native_id: str) -> str | None:
    for thread in process.names.threads.values():
        if str(thread.native_id) == native_id:
            return thread.name
    return None


def _thread_name(process: "ProcessData", thread: int) -> str:
    known = process.names.threads.get(thread)
    return known.name if known and known.name else f"thread {thread}"


def _name(process: "ProcessData", name_id: int) -> str:
    known = process.names.spans.get(name_id)
    return known.name if known else ""


def _steps(run: "Run", process: "ProcessData") -> Iterator[Span]:
    from stepscope.analyze.steps.find_steps import find_steps

    steps = find_steps(run, process)
    columns = (
        steps.start_ns.tolist(),
        steps.end_ns.tolist(),
        steps.samples.tolist(),
        steps.is_measured.tolist(),
    )
    for number, (start, end, samples, measured) in enumerate(zip(*columns, strict=True), 1):
        args = {"measured": measured, **({"samples": samples} if samples else {})}
        yield start, end, f"step {number}", args


def _phases(run: "Run", process: "ProcessData", thread: int, trained: int) -> Iterator[Span]:
    """On the thread that trains as people speak of them, elsewhere as they were recorded."""
    from stepscope.analyze.phases.framework_spans import PHASES, phase_spans
    from stepscope.analyze.steps.find_steps import find_steps

    if thread != trained:
        yield from _recorded(process, thread, *PHASES)
        return
    spans = phase_spans(process, find_steps(run, process))
    yield from _all_told(process, spans)


def _recorded(process: "ProcessData", thread: int, *categories: SpanCategory) -> Iterator[Span]:
    spans = process.spans.of(*categories).on(thread)
    yield from _all_told(process, spans[np.lexsort((-spans.end_ns, spans.start_ns))])


def _all_told(process: "ProcessData", spans: "Spans | PhaseSpans") -> Iterator[Span]:
    columns = (
        spans.start_ns, spans.end_ns, spans.category, spans.name, spans.samples, spans.number,
        spans.group,
    )  # fmt: skip
    for start, end, *told in _entries(columns):
        yield start, end, *_told(process, *told)


def _entries(columns: Iterable[npt.NDArray[Any]]) -> Iterator[tuple[Any, ...]]:
    """Row by row, with few of them as objects at a time."""
    parts = [np.array_split(column, len(column) // _PIECE + 1) for column in columns]
    for piece in zip(*parts, strict=True):
        yield from zip(*(column.tolist() for column in piece), strict=True)


def _told(
    process: "ProcessData", kind: int, name_id: int, samples: int, number: int, group: int
) -> tuple[str, dict[str, Any]]:
    """A phase is called by what it is, with its own name beside; all else by its name."""
    category, name = SpanCategory(kind), _name(process, name_id)
    if category in _OTHER_ROWS:
        return name or "(unnamed)", {}
    args: dict[str, Any] = {"name": text(name)} if name else {}
    if category in _WITH_SAMPLES and 0 < samples < MOST_SAMPLES:
        args["samples"] = samples
    if category is SpanCategory.COMMUNICATION and number > 0:
        args |= {"group": text(_name(process, group)), "number": number}
    return category.name.lower(), args


def _windows(process: "ProcessData") -> Iterator[Span]:
    from stepscope.analyze.traces.windows import windows

    for window in windows(process):
        if window.start_ns is not None and window.end_ns is not None:
            yield window.start_ns, window.end_ns, window.path.name, {}


def _lines(run: "Run", process: "ProcessData", thread: int) -> Iterator[Span]:
    """Each from where it began to the next, or to the end of its window."""
    from stepscope.analyze.run import code_location
    from stepscope.analyze.traces.windows import windows

    begun = process.line_begins.on(thread).by_start()
    at_ns = begun.at_ns
    ends = np.sort(np.array([each.end_ns or 0 for each in windows(process)], np.int64))
    closed = np.append(ends, process.end_ns)[np.searchsorted(ends, at_ns, side="right")]
    until = np.minimum(np.append(at_ns[1:], process.end_ns), np.maximum(closed, at_ns))
    for start, end, code_id, number in _entries((at_ns, until, begun.name, begun.line)):
        where = code_location(run, process, code_id, number) if code_id else None
        if where is not None:
            yield start, end, f"{where.file}:{where.line}", {"function": text(where.function or "")}
