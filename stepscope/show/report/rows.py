"""The rows of the timeline: steps, phases, stacks, operators and kernels of every process."""

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np

from stepscope.analyze.code.sampled_stacks import Seen, Stacks
from stepscope.analyze.phases.framework_spans import PHASES, phase_spans
from stepscope.analyze.run import code_location, shown_path
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.analyze.traces.windows import windows
from stepscope.model import Location
from stepscope.show.report.call_trees import MACHINERY
from stepscope.show.report.shapes import Kind
from stepscope.show.report.spans import NO_PLACE, Ints, Row, nested
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData, Run

_NAMED: Final[dict[SpanCategory, tuple[Kind, str]]] = {
    SpanCategory.REGION: ("region", "regions"),
    SpanCategory.ACTION: ("action", "actions"),
    SpanCategory.STAGE: ("stage", "input stages"),
    SpanCategory.IMPORT: ("import", "imports"),
}
_MOST_LOOKS: Final = 20_000  # samples of a thread; of more, every so many-th
_DEEPEST: Final = 48

_PAUSE: Final = 5.0  # times the usual distance of samples: the thread was not there


class Words:
    """Names and places of the timeline, each told once."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._places: dict[Location, int] = {}

    @property
    def names(self) -> list[str]:
        return list(self._names)

    @property
    def places(self) -> list[Location]:
        return list(self._places)

    def name(self, text: str) -> int:
        return self._names.setdefault(text, len(self._names))

    def place(self, location: Location | None) -> int:
        if location is None:
            return NO_PLACE
        return self._places.setdefault(location, len(self._places))


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """One process on the timeline; `zero_ns` is the timeline's beginning on its clock."""

    run: Run
    process: ProcessData
    number: int
    zero_ns: int
    words: Words

    def thread_name(self, thread: int) -> str:
        known = self.process.names.threads.get(thread)
        return known.name if known and known.name else f"thread {thread}"

    def span_names(self, ids: Ints, otherwise: str) -> Ints:
        """Numbers of the texts behind ids of kind "name"."""
        unique, where = np.unique(ids, return_inverse=True)
        told = [self.process.names.spans.get(each) for each in unique.tolist()]
        numbers = [self.words.name(each.name if each else otherwise) for each in told]
        return np.array(numbers, np.int64)[where.reshape(-1)]

    def row(
        self, thread: str, title: str, kind: Kind, start_ns: Ints, end_ns: Ints, name: Ints,
        place: Ints | None = None, level: Ints | None = None,
    ) -> Row:  # fmt: skip
        spans = nested(start_ns - self.zero_ns, end_ns - self.zero_ns, name, place, level)
        return Row(self.number, thread, title, kind, spans)


def recorded_rows(source: Source) -> Iterator[Row]:
    """What we recorded ourselves, the thread that trains first."""
    yield from _steps(source)
    steps = find_steps(source.run, source.process)
    trained = steps.thread if len(steps) else source.process.main_thread
    threads = np.unique(np.append(source.process.spans.thread, trained)).tolist()
    for thread in sorted(threads, key=lambda each: (each != trained, each)):
        yield from _phases(source, int(thread), int(trained))
        yield from _named(source, int(thread))
    yield from _files(source)
    yield from _lines(source)
    yield from _stacks(source)
    yield from _windows(source)


def _steps(source: Source) -> Iterator[Row]:
    steps = find_steps(source.run, source.process)
    if len(steps):
        names = [source.words.name(f"step {number + 1}") for number in range(len(steps))]
        thread = source.thread_name(steps.thread)
        yield source.row(thread, "steps", "step", steps.start_ns, steps.end_ns, np.array(names))


def _phases(source: Source, thread: int, trained: int) -> Iterator[Row]:
    """On the thread that trains as people speak of them, elsewhere as they were recorded."""
    process = source.process
    if thread == trained:
        found = phase_spans(process, find_steps(source.run, process))
        start, end, category = found.start_ns, found.end_ns, found.category
    else:
        spans = process.spans.on(thread).of(*PHASES)
        start, end = spans.interval_ns
        category = spans.category.astype(np.int64)
    if not len(start):
        return
    unique, where = np.unique(category, return_inverse=True)
    names = [source.words.name(SpanCategory(each).name.lower()) for each in unique.tolist()]
    numbers = np.array(names, np.int64)[where.reshape(-1)]
    yield source.row(source.thread_name(thread), "phases", "phase", start, end, numbers)


def _named(source: Source, thread: int) -> Iterator[Row]:
    spans = source.process.spans.on(thread)
    for category, (kind, title) in _NAMED.items():
        mine = spans.of(category)
        if len(mine):
            names = source.span_names(mine.name.astype(np.int64), "(unnamed)")
            yield source.row(source.thread_name(thread), title, kind, *mine.interval_ns, names)


def _files(source: Source) -> Iterator[Row]:
    """The activations that opened one, by the first file of each."""
    process = source.process
    for thread in np.unique(process.opens.thread).tolist():
        mine = process.opens.on(thread)
        start, end = mine.interval_ns
        _, first = np.unique(np.stack([start, end]), axis=1, return_index=True)
        names, places = [], []
        for each in mine.name[first].tolist():
            told = process.names.opens.get(each)
            path = shown_path(source.run, told.path) if told else "a file"
            names.append(source.words.name(path))
            where = code_location(source.run, process, told.code, told.line) if told else None
            places.append(source.words.place(where))
        yield source.row(
            source.thread_name(thread), "files opened", "file", start[first], end[first],
            np.array(names), np.array(places),
        )  # fmt: skip


def _lines(source: Source) -> Iterator[Row]:
    """In operator windows: each from where it began to the next, or to the end of its window."""
    process = source.process
    ends = np.sort(np.array([each.end_ns or 0 for each in windows(process)], np.int64))
    for thread in np.unique(process.line_begins.thread).tolist():
        mine = process.line_begins.on(thread).by_start()
        at_ns = mine.at_ns
        closed = np.append(ends, process.end_ns)[np.searchsorted(ends, at_ns, side="right")]
        until = np.minimum(np.append(at_ns[1:], process.end_ns), np.maximum(closed, at_ns))
        keys = np.stack([mine.name.astype(np.int64), mine.line.astype(np.int64)])
        unique, where = np.unique(keys, axis=1, return_inverse=True)
        found = [
            code_location(source.run, process, code, line) if code else None
            for code, line in unique.T.tolist()
        ]
        places = np.array([source.words.place(each) for each in found])[where.reshape(-1)]
        told = [f"{each.file.rpartition('/')[2]}:{each.line}" if each else "" for each in found]
        names = np.array([source.words.name(each) for each in told])[where.reshape(-1)]
        known = places >= 0
        yield source.row(
            source.thread_name(thread), "lines", "line", at_ns[known], until[known], names[known],
            places[known], np.zeros(int(known.sum()), np.int64),
        )  # fmt: skip


def _windows(source: Source) -> Iterator[Row]:
    found = [each for each in windows(source.process) if each.start_ns and each.end_ns]
    if found:
        start = np.array([each.start_ns for each in found], np.int64)
        end = np.array([each.end_ns for each in found], np.int64)
        names = np.array([source.words.name(each.path.name) for each in found])
        yield source.row("", "operator windows", "window", start, end, names)


# --- stacks ---------------------------------------------------------------------------------------


def _stacks(source: Source) -> Iterator[Row]:
    found = Stacks(source.process)
    for seen in found.by_thread():
        columns = _Course(source, found).of(seen)
        if len(columns[0]):
            start, end, name, level, place = (np.array(each, np.int64) for each in columns)
            yield source.row(
                seen.thread.name or f"thread {seen.thread.id}", "stack, sampled", "stack", start,
                end, name, place, level,
            )  # fmt: skip


def _shown_name(name: str, path: str) -> str:
    """A module's top level goes by its file: there are many of them in every import."""
    if name != "<module>":
        return name
    folder, _, file = path.rpartition("/")
    return f"{name} {folder.rpartition('/')[2]}" if file == "__init__.py" else f"{name} {file}"


class _Course:
    """A thread's samples as calls that begin and end: what two looks have in common went on."""

    def __init__(self, source: Source, stacks: Stacks) -> None:
        self._source, self._stacks = source, stacks
        self._open: list[tuple[int, int]] = []  # function, since
        self._columns: tuple[list[int], ...] = ([], [], [], [], [])
        self._told: dict[int, tuple[int, int]] = {}

    def of(self, seen: Seen) -> tuple[list[int], ...]:
        every = -(-len(seen.nodes) // _MOST_LOOKS)
        start = seen.start_ns[::every].tolist()
        end = (seen.start_ns + seen.weight_ns)[::every].tolist()
        pause_ns = _PAUSE * float(np.median(seen.weight_ns)) * every if len(seen.nodes) else 0.0
        before = 0
        for node, began, ended in zip(seen.nodes[::every].tolist(), start, end, strict=True):
            if before and began - before > pause_ns:
                self._close(0, before)
            self._look(node, began)
            before = ended
        self._close(0, before)
        return self._columns

    def _look(self, node: int, at_ns: int) -> None:
        whole = self._stacks.stack(node)
        stack = [each for each in whole if not each.file.startswith(MACHINERY)][:_DEEPEST]
        same = 0
        for (function, _), now in zip(self._open, stack, strict=False):
            if function != now.id:
                break
            same += 1
        self._close(same, at_ns)
        for called in stack[same:]:
            if called.id not in self._told:
                path = shown_path(self._source.run, called.file)
                where = Location(file=path, line=called.line, function=called.name)
                words = self._source.words
                place = NO_PLACE if called.native else words.place(where)
                self._told[called.id] = words.name(_shown_name(called.name, path)), place
            self._open.append((called.id, at_ns))

    def _close(self, kept: int, at_ns: int) -> None:
        for level in range(len(self._open) - 1, kept - 1, -1):
            function, since = self._open[level]
            if at_ns > since:
                name, place = self._told[function]
                for column, value in zip(
                    self._columns, (since, at_ns, name, level, place), strict=True
                ):
                    column.append(value)
        del self._open[kept:]
