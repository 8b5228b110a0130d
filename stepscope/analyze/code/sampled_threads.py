"""Each thread of a process over time, stack by stack: for export to tools that show stacks."""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

from stepscope.analyze.code.sampled_stacks import Seen, Stacks, stacks_of, time_by_node
from stepscope.analyze.run import select, shown_path
from stepscope.store.reader import Run
from stepscope.store.records import FunctionName


class Frame(NamedTuple):
    """A function; native ones have no place."""

    id: int
    name: str
    file: str | None
    line: int | None


@dataclasses.dataclass(frozen=True, eq=False)
class SampledThread:
    _run: Run
    _stacks: Stacks
    _seen: Seen
    _known: dict[int, list[Frame]] = dataclasses.field(default_factory=dict)  # by node

    @property
    def name(self) -> str:
        return self._seen.thread.name

    @property
    def id(self) -> int:
        return self._seen.thread.id

    @property
    def is_main(self) -> bool:
        return bool(self._seen.thread.main)

    @property
    def began_ns(self) -> int:
        return int(self._seen.start_ns[0])

    def looks(self) -> Iterator[tuple[list[Frame], int, int]]:
        """Its stack from the outermost frame inwards, when it began, and for how many ns."""
        seen = self._seen
        columns = (seen.nodes.tolist(), seen.start_ns.tolist(), seen.weight_ns.tolist())
        for node, start_ns, weight_ns in zip(*columns, strict=True):
            yield self._stack(node), start_ns, weight_ns

    def times(self) -> Iterator[tuple[list[Frame], int]]:
        """Each stack and its total ns."""
        for node, ns in time_by_node(self._seen).items():
            yield self._stack(node), ns

    def _stack(self, node: int) -> list[Frame]:
        if node not in self._known:
            self._known[node] = [self._frame(each) for each in self._stacks.stack(node)]
        return self._known[node]

    def _frame(self, called: FunctionName) -> Frame:
        if called.native:
            return Frame(called.id, called.name, None, None)
        return Frame(called.id, called.name, shown_path(self._run, called.file), called.line)


def sampled_threads(run: Run, process: int | None = None) -> list[SampledThread]:
    """Of the process with that pid, by default of the main one (or rank 0); main thread first."""
    chosen = select(run, process)
    if chosen is None:
        return []
    stacks = stacks_of(chosen)
    found = [SampledThread(run, stacks, seen) for seen in stacks.by_thread()]
    return sorted(found, key=lambda each: not each.is_main)
