"""A thread's samples as calls that begin and end: what two looks have in common continued.

On the thread of the steps, only calls around all steps go on from one step to the next. All others
are drawn in the step in which they were seen, from its beginning at the earliest.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from stepscope.analyze.code.imports import is_import_machinery
from stepscope.analyze.code.sampled_stacks import Seen, Stacks, stacks_of
from stepscope.analyze.run import shown_path
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.analyze.timeline.around_steps import frames_around_steps, step_edges_ns
from stepscope.analyze.timeline.one_clock import Member
from stepscope.analyze.timeline.tracks import Label, Track
from stepscope.clock import Ints
from stepscope.model import Location
from stepscope.store.records import FunctionName

_MOST_LOOKS: Final = 20_000  # samples of a thread; of more, only every n-th
_DEEPEST: Final = 48
_PAUSE: Final = 5.0  # times the usual distance between samples: the thread was not seen


def stack_tracks(member: Member) -> Iterator[Track]:
    found = stacks_of(member.process)
    steps = find_steps(member.run, member.process)
    for seen in found.by_thread():
        course = _Course(member, found)
        if len(steps) and seen.thread.id == steps.thread:
            around = frames_around_steps(member.process, steps, found, seen)
            course = _Course(member, found, step_edges_ns(steps), around)
        start, end, label, level = (np.array(each, np.int64) for each in course.of(seen))
        if len(start):
            name = seen.thread.name or f"thread {seen.thread.id}"
            yield Track.of(
                member, name, "stack, sampled", "stack", (start, end), label, course.labels, level
            )


class _Course:
    """The calls of one thread, as they open and close."""

    def __init__(
        self, member: Member, stacks: Stacks, edges_ns: Ints | None = None, around: int = 0
    ) -> None:
        """`edges_ns`: where steps begin and end; `around`: how many calls go on beyond those."""
        self._member, self._stacks = member, stacks
        self._edges_ns = np.zeros(0, np.int64) if edges_ns is None else edges_ns
        self._around = around
        self._open: list[tuple[int, int]] = []  # function, since
        self._columns: tuple[list[int], ...] = ([], [], [], [])
        self._known: dict[int, int] = {}  # function to its label
        self._stack_of: dict[int, list[FunctionName]] = {}  # by node: a stack is seen many times
        self.labels: list[Label] = []

    def of(self, seen: Seen) -> tuple[list[int], ...]:
        """Start, end, label and level of each call."""
        every = -(-len(seen.nodes) // _MOST_LOOKS)
        start = seen.start_ns[::every].tolist()
        end = (seen.start_ns + seen.weight_ns)[::every].tolist()
        pause_ns = _PAUSE * float(np.median(seen.weight_ns)) * every if len(seen.nodes) else 0.0
        before = 0
        for node, began, ended in zip(seen.nodes[::every].tolist(), start, end, strict=True):
            if before and began - before > pause_ns:
                self._close(0, before)
            edge = self._last_edge(before or began, ended)
            if edge is not None:
                self._close(self._around, before)
            self._look(node, began, max(began, edge or began))
            before = ended
        self._close(0, before)
        return self._columns

    def _last_edge(self, after_ns: int, until_ns: int) -> int | None:
        """The beginning of the step that a look at `until_ns` lies in, if it is so late."""
        at = int(np.searchsorted(self._edges_ns, until_ns)) - 1
        found = int(self._edges_ns[at]) if at >= 0 else after_ns - 1
        return found if found >= after_ns else None

    def _look(self, node: int, at_ns: int, inner_at_ns: int) -> None:
        """`inner_at_ns`: since when calls that do not go on beyond a step may be open."""
        stack, same = self._shown(node), 0
        for (function, _), now in zip(self._open, stack, strict=False):
            if function != now.id:
                break
            same += 1
        self._close(same, at_ns)
        for level, called in enumerate(stack[same:], same):
            if called.id not in self._known:
                self._known[called.id] = len(self.labels)
                self.labels.append(self._label(called))
            self._open.append((called.id, at_ns if level < self._around else inner_at_ns))

    def _shown(self, node: int) -> list[FunctionName]:
        if node not in self._stack_of:
            whole = self._stacks.stack(node)
            shown = [each for each in whole if not is_import_machinery(each.file)]
            self._stack_of[node] = shown[:_DEEPEST]
        return self._stack_of[node]

    def _label(self, called: FunctionName) -> Label:
        path = shown_path(self._member.run, called.file)
        where = Location(file=path, line=called.line, function=called.name)
        return Label(_shown_name(called.name, path), None if called.native else where)

    def _close(self, kept: int, at_ns: int) -> None:
        for level in range(len(self._open) - 1, kept - 1, -1):
            function, since = self._open[level]
            if at_ns > since:
                row = since, at_ns, self._known[function], level
                for column, value in zip(self._columns, row, strict=True):
                    column.append(value)
        del self._open[kept:]


def _shown_name(name: str, path: str) -> str:
    """A module's top level is named after its file: every import has many of them."""
    if name != "<module>":
        return name
    folder, _, file = path.rpartition("/")
    return f"{name} {folder.rpartition('/')[2]}" if file == "__init__.py" else f"{name} {file}"
