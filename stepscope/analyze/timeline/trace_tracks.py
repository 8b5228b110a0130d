"""What only the trace of another tool has: its steps, and every call of a Python function."""

from collections.abc import Iterator

import numpy as np

from stepscope.analyze.run import shown_path
from stepscope.analyze.timeline.one_clock import Member
from stepscope.analyze.timeline.tracks import Label, Track
from stepscope.analyze.traces.tensorboard_steps import step_spans
from stepscope.analyze.traces.windows import read_causes, trace_of
from stepscope.analyze.traces.xprof_steps import xprof_steps
from stepscope.clock import Ints
from stepscope.importers.frame_names import BUILT_IN, frame_of
from stepscope.importers.trace import Category, Trace
from stepscope.model import Location


def trace_tracks(member: Member) -> Iterator[Track]:
    """None in a recorded process."""
    if member.process.trace is None:
        return
    trace = trace_of(member.process)
    if not isinstance(trace, str):
        yield _steps(member, trace)
        yield from _calls(member, trace)


def _steps(member: Member, trace: Trace) -> Track:
    """Those of `show steps`."""
    causes = read_causes(trace.path)
    found = step_spans(trace) if causes is None else xprof_steps(causes)
    labels = [Label(f"step {number}") for number in found.numbers.number.tolist()]
    spans = _on_clock(member, found.start_ns, found.end_ns)
    return Track.of(member, "", "steps", "step", spans, np.arange(len(found)), labels)


def _calls(member: Member, trace: Trace) -> Iterator[Track]:
    events = trace.of(Category.PYTHON)
    for thread in np.unique(events["thread"]).tolist():
        mine = events[events["thread"] == thread]
        names, label = np.unique(mine["name"], return_inverse=True)
        labels = [_label(member, trace.names[each]) for each in names.tolist()]
        start_ns = mine["start_ns"]
        spans = _on_clock(member, start_ns, start_ns + mine["duration_ns"])
        seen = trace.threads[thread]
        name = seen.name or f"thread {seen.thread}"
        yield Track.of(member, name, "calls", "stack", spans, label.reshape(-1), labels)


def _label(member: Member, name: str) -> Label:
    frame = frame_of(name)
    if frame.file == BUILT_IN:
        return Label(frame.function)
    path = shown_path(member.run, frame.file)
    return Label(frame.function, Location(file=path, line=frame.line, function=frame.function))


def _on_clock(member: Member, start_ns: Ints, end_ns: Ints) -> tuple[Ints, Ints]:
    offset_ns = member.process.clock.monotonic_ns(0)
    return start_ns + offset_ns, end_ns + offset_ns
