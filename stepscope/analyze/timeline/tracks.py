"""What we recorded in a process as tracks: spans of one kind on one thread, each with its label."""

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from stepscope.analyze.grouping import grouped
from stepscope.analyze.memory_curve import with_peaks
from stepscope.analyze.phases.file_times import ends_of_opens
from stepscope.analyze.phases.framework_spans import PHASES, phase_spans
from stepscope.analyze.phases.opened_files import read_opens
from stepscope.analyze.phases.span_table import Spans as PhaseSpans
from stepscope.analyze.run import code_location, shown_path
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.analyze.timeline.one_clock import Member
from stepscope.analyze.traces.windows import windows
from stepscope.clock import Ints
from stepscope.model import Location
from stepscope.model.timeline import Kind
from stepscope.store.events import MOST_SAMPLES, Spans
from stepscope.store.format import SpanCategory

_NAMED: Final[dict[SpanCategory, tuple[Kind, str]]] = {
    SpanCategory.REGION: ("region", "regions"),
    SpanCategory.ACTION: ("action", "actions"),
    SpanCategory.STAGE: ("stage", "input stages"),
    SpanCategory.IMPORT: ("import", "imports"),
    SpanCategory.MODULE: ("region", "modules"),
}
_MOST_STEP_NAMES: Final = 20_000  # a page that has millions of names to read does not open
_WITH_SAMPLES: Final = (SpanCategory.INPUT, SpanCategory.FORWARD)


@dataclasses.dataclass(frozen=True)
class Label:
    """What a span is called, where it is in the source, and what else is known about it."""

    name: str
    place: Location | None = None
    details: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, eq=False)
class Track:
    """By start; what begins together, longest first. Times count from the timeline's beginning."""

    thread: str  # empty: of the whole process
    title: str
    kind: Kind
    start_ns: Ints
    end_ns: Ints
    label: Ints  # index in `labels`
    labels: list[Label]
    level: Ints | None = None  # how many others lie around; None: as the spans nest

    @classmethod
    def of(
        cls, member: Member, thread: str, title: str, kind: Kind, spans: tuple[Ints, Ints],
        label: Ints, labels: list[Label], level: Ints | None = None,
    ) -> "Track":  # fmt: skip
        """`spans`: start and end on the process's own clock, in any order."""
        start_ns, end_ns = spans
        order = np.lexsort((-end_ns, start_ns))
        return cls(
            thread, title, kind, start_ns[order] - member.zero_ns, end_ns[order] - member.zero_ns,
            label[order], labels, None if level is None else level[order],
        )  # fmt: skip


def span_tracks(member: Member) -> Iterator[Track]:
    """Steps, then phases and named spans by thread, the training one first; some may be empty."""
    process = member.process
    steps = find_steps(member.run, process)
    trained = steps.thread if len(steps) else process.main_thread
    yield _steps(member, trained)
    seen = process.spans.thread
    threads = np.unique(np.append(seen, [process.main_thread, trained])).tolist()
    for thread in sorted(map(int, threads), key=lambda each: (each != trained, each)):
        yield _phases(member, thread, trained)
        for category in _NAMED:
            yield _named(member, thread, category)


def _steps(member: Member, trained: int) -> Track:
    steps = find_steps(member.run, member.process)
    every = max(1, -(-len(steps) // _MOST_STEP_NAMES))  # steps that share a name
    first = range(0, len(steps), every)
    known = zip(first, steps.is_measured[::every].tolist(), steps.samples[::every].tolist(),
                strict=True)  # fmt: skip
    labels = [
        Label(
            _step_name(at + 1, min(at + every, len(steps))),
            details={"measured": measured, **({"samples": samples} if samples else {})},
        )
        for at, measured, samples in known
    ]
    thread, spans = member.thread_name(trained), (steps.start_ns, steps.end_ns)
    return Track.of(member, thread, "steps", "step", spans, np.arange(len(steps)) // every, labels)


def _step_name(first: int, last: int) -> str:
    return f"step {first}" if first == last else f"steps {first} to {last}"


def _phases(member: Member, thread: int, trained: int) -> Track:
    """On the thread that trains, the usual phases; elsewhere, as they were recorded."""
    process = member.process
    if thread == trained:
        found: PhaseSpans | Spans = phase_spans(process, find_steps(member.run, process))
    else:
        found = process.spans.on(thread).of(*PHASES)
    spans = found.start_ns, found.end_ns
    columns = [found.category, found.name, found.samples, found.number, found.group]
    label, first = grouped(*columns)
    rows = zip(*(column[first].tolist() for column in columns), strict=True)
    labels = [_phase_label(member, *row) for row in rows]
    return Track.of(member, member.thread_name(thread), "phases", "phase", spans, label, labels)


def _phase_label(
    member: Member, kind: int, name_id: int, samples: int, number: int, group: int
) -> Label:
    """A phase is labelled with its category; its own name is in the details."""
    category, name = SpanCategory(kind), _name(member, name_id)
    details: dict[str, Any] = {"name": name} if name else {}
    if category in _WITH_SAMPLES and 0 < samples < MOST_SAMPLES:
        details["samples"] = samples
    if category is SpanCategory.COMMUNICATION and number > 0:
        details |= {"group": _name(member, group), "number": number}
    return Label(category.name.lower(), details=details)


def _named(member: Member, thread: int, category: SpanCategory) -> Track:
    kind, title = _NAMED[category]
    mine = member.process.spans.on(thread).of(category)
    label, first = grouped(mine.name)
    labels = [Label(_name(member, each) or "(unnamed)") for each in mine.name[first].tolist()]
    return Track.of(
        member, member.thread_name(thread), title, kind, mine.interval_ns, label, labels
    )


def _name(member: Member, name_id: int) -> str:
    known = member.process.names.spans.get(name_id)
    return known.name if known else ""


def file_tracks(member: Member) -> Iterator[Track]:
    """Each from its opening to the end of its time; without those that imports open."""
    process = member.process
    steps = find_steps(member.run, process)
    opens = read_opens(process, steps)
    until_ns = ends_of_opens(process, steps, opens)
    for thread in np.unique(opens.thread).tolist():
        mine = (opens.thread == thread) & ~opens.is_importing
        label, first = grouped(opens.name[mine])
        labels = [_file_label(member, each) for each in opens.name[mine][first].tolist()]
        spans = opens.at_ns[mine], until_ns[mine]
        yield Track.of(
            member, member.thread_name(thread), "files opened", "file", spans, label, labels
        )


def _file_label(member: Member, open_id: int) -> Label:
    opened = member.process.names.opens.get(open_id)
    if opened is None:
        return Label("a file")
    where = code_location(member.run, member.process, opened.code, opened.line)
    return Label(shown_path(member.run, opened.path), where)


def line_tracks(member: Member) -> Iterator[Track]:
    """In operator windows: each from where it began to the next, or to the end of its window."""
    process = member.process
    ends = np.sort(np.array([each.end_ns or 0 for each in windows(process)], np.int64))
    for thread in np.unique(process.line_begins.thread).tolist():
        mine = process.line_begins.on(thread).by_start()
        at_ns = mine.at_ns
        closed = np.append(ends, process.end_ns)[np.searchsorted(ends, at_ns, side="right")]
        until = np.minimum(np.append(at_ns[1:], process.end_ns), np.maximum(closed, at_ns))
        label, first = grouped(mine.name, mine.line)
        codes = zip(mine.name[first].tolist(), mine.line[first].tolist(), strict=True)
        labels = [_line_label(member, code, line) for code, line in codes]
        known = np.array([each.place is not None for each in labels], np.bool_)[label]
        yield Track.of(
            member, member.thread_name(thread), "lines", "line", (at_ns[known], until[known]),
            label[known], labels, np.zeros(int(known.sum()), np.int64),
        )  # fmt: skip


def _line_label(member: Member, code: int, line: int) -> Label:
    where = code_location(member.run, member.process, code, line) if code else None
    return Label(f"{where.file.rpartition('/')[2]}:{where.line}" if where else "", where)


def window_track(member: Member) -> Track:
    """The stretches in which operators were recorded."""
    found = [
        (each.start_ns, each.end_ns, Label(each.path.name))
        for each in windows(member.process)
        if each.start_ns is not None and each.end_ns is not None
    ]
    start = np.array([start for start, _, _ in found], np.int64)
    end = np.array([end for _, end, _ in found], np.int64)
    labels = [label for _, _, label in found]
    spans = start, end
    return Track.of(member, "", "operator windows", "window", spans, np.arange(len(found)), labels)


def memory_points(member: Member) -> Iterator[tuple[int, int]]:
    """When, and how many bytes were resident."""
    known = member.process.memory[member.process.memory.is_plausible]
    yield from zip(*(each.tolist() for each in with_peaks(known, member.zero_ns)), strict=True)
