"""The call trees of a process in which every call was counted: one per thread."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from stepscope.analyze.code.call_tree import own_ticks
from stepscope.analyze.code.function_numbers import FunctionNumbers
from stepscope.analyze.code.imports import is_import_machinery
from stepscope.analyze.libraries import library_of, users_files
from stepscope.analyze.run import shown_path
from stepscope.clock import Ints
from stepscope.model.page import Called, Tree
from stepscope.store.reader import ProcessData, Run

LEAST_SHARE: Final = 0.0005  # of a thread's time: less is narrower than a pixel
MOST_ROWS: Final = 4_000  # of a tree
_LEAST_TREE: Final = 0.02  # of the longest of its process


def least_time(totals: Ints, whole: int) -> float:
    """The time that a row must have to be kept."""
    least = max(1.0, LEAST_SHARE * whole)
    if len(totals) > MOST_ROWS:
        least = max(least, float(np.partition(totals, -MOST_ROWS)[-MOST_ROWS]))
    return least


class CountedTrees:
    """Of one process. Our own frames and those of imports are left out, but not what they call."""

    def __init__(self, run: Run, process: ProcessData, numbers: FunctionNumbers) -> None:
        self._run, self._process, self._numbers = run, process, numbers
        calls = process.calls
        names = process.names.functions.values()
        self._hidden = {each.id for each in names if is_import_machinery(each.file)} | {0, -1}
        inner = np.flatnonzero(calls.parent >= 0)
        self._own = own_ticks(calls)
        most = int(calls.ticks.max(initial=0))
        kept = inner[calls.ticks[inner] >= LEAST_SHARE * _LEAST_TREE * most]
        self._below: dict[int, list[int]] = {}
        for node, above in zip(kept.tolist(), calls.parent[kept].tolist(), strict=True):
            self._below.setdefault(above, []).append(node)

    def trees(self) -> list[Tree]:
        """The main thread's first; what a thread did before it was known is not worth a tree."""
        roots = np.flatnonzero(self._process.calls.parent < 0).tolist()
        found = [tree for root in roots if (tree := self._tree(root)) is not None]
        most_ns = max((tree.total_ns for tree in found), default=0)
        worth = [tree for tree in found if tree.total_ns >= _LEAST_TREE * most_ns]
        return sorted(worth, key=lambda tree: (not tree.main, -tree.total_ns))

    def _tree(self, root: int) -> Tree | None:
        calls = self._process.calls
        whole = int(calls.ticks[self._below.get(root, [])].sum())
        if not whole:
            return None
        rows = list(self._in_order(root, least_time(calls.ticks, whole)))
        nodes = np.array([node for node, _ in rows], np.int64)
        thread = self._process.names.threads.get(int(calls.thread[root]))
        return Tree(
            source="calls",
            process=self._process.process,
            thread=thread.name if thread and thread.name else "a thread",
            threads=1,
            main=bool(thread and thread.main),
            total_ns=self._ns(np.array([whole]))[0],
            samples=None,
            depth=[depth for _, depth in rows],
            function=self._numbers_of(calls.function[nodes]),
            total=self._ns(calls.ticks[nodes]),
            own=self._ns(self._own[nodes]),
            calls=calls.calls[nodes].tolist(),
        )

    def _ns(self, ticks: Ints) -> list[int]:
        ns: list[int] = self._process.clock.duration_ns(ticks.astype(np.uint64)).tolist()
        return ns

    def _in_order(self, root: int, least: float) -> Iterator[tuple[int, int]]:
        """Nodes and their depth: callers before callees, the longest first."""
        calls = self._process.calls
        waiting = [(node, 0) for node in self._shortest_first(root)]
        while waiting:
            node, depth = waiting.pop()
            if calls.ticks[node] < least:
                continue
            is_hidden = int(calls.function[node]) in self._hidden
            if not is_hidden:
                yield node, depth
            waiting += [(each, depth + (not is_hidden)) for each in self._shortest_first(node)]

    def _shortest_first(self, node: int) -> list[int]:
        ticks = self._process.calls.ticks
        return sorted(self._below.get(node, []), key=lambda each: int(ticks[each]))

    def _numbers_of(self, functions: Ints) -> list[int]:
        users = users_files(self._process)
        unique, where = np.unique(functions, return_inverse=True)
        numbers = [self._numbers.of(*self._called(each, users)) for each in unique.tolist()]
        found: list[int] = np.array(numbers, np.int64)[where.reshape(-1)].tolist()
        return found

    def _called(self, function: int, users: set[str]) -> Called:
        name = self._process.names.functions.get(function)
        if name is None:
            return f"function {function}", "?", 0, None
        library = library_of(name.file, users)
        return name.name, shown_path(self._run, name.file), name.line, library
