"""Where time went, by stack: the tree of the sampled functions, and each function's share."""

import dataclasses
import re
from collections.abc import Iterator
from typing import Final

from stepscope.analyze.code.sampled_stacks import Seen, Stack, Stacks, stacks_of, time_by_node
from stepscope.analyze.libraries import library_of, users_files
from stepscope.analyze.run import all_notes, shown_path
from stepscope.model import Process, StackRow, StacksAnswer, ThreadStacks
from stepscope.store.reader import ProcessData, Run
from stepscope.store.records import FunctionName

NO_SAMPLES: Final = "No stacks were sampled: the run was too short, or recorded without samples."
CUT: Final = "Stacks of more than 512 frames were cut: the outer and the innermost ones are shown."
_NUMBER: Final = re.compile(r"\d+")

_Place = tuple[str, int, str]  # file, first line, name


@dataclasses.dataclass(eq=False)
class _Branch:
    """A function below its caller; recursion into itself stays in one branch."""

    place: _Place
    library: str | None = None
    total_ns: int = 0
    self_ns: int = 0
    below: dict[_Place, "_Branch"] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(eq=False)
class _Tree:
    """Threads of one kind: those whose names differ only in their numbers."""

    names: set[str] = dataclasses.field(default_factory=set)
    threads: int = 0
    main: bool = False
    samples: int = 0
    root: _Branch = dataclasses.field(default_factory=lambda: _Branch(("", 0, "")))


@dataclasses.dataclass(frozen=True)
class SampledFunction:
    """A function as the samples know it; times are estimates."""

    file: str
    line: int
    name: str
    native: bool
    tottime_ns: int
    cumtime_ns: int


def stacks(run: Run) -> StacksAnswer:
    """One tree per role, rank and kind of thread; main threads first, then the longest."""
    trees: dict[tuple[Process, bool, str], _Tree] = {}
    notes = all_notes(run)
    for process in run.processes:
        found, users = stacks_of(process), users_files(process)
        for seen in found.by_thread():
            kind = _NUMBER.sub("*", seen.thread.name)
            tree = trees.setdefault((process.process, seen.thread.main, kind), _Tree())
            _add_thread(tree, found, seen, users)
        if found.is_cut and CUT not in notes:
            notes.append(CUT)
    answer = [_thread(run, process, tree) for (process, _, _), tree in trees.items()]
    answer.sort(key=_order)
    return StacksAnswer(threads=answer, notes=notes if answer else [*notes, NO_SAMPLES])


def _order(thread: ThreadStacks) -> tuple[bool, bool, int]:
    return thread.process.role == "worker", not thread.main, -thread.total_ns


def _add_thread(tree: _Tree, found: Stacks, seen: Seen, users: set[str]) -> None:
    tree.names.add(seen.thread.name)
    tree.threads += 1
    tree.main |= seen.thread.main
    tree.samples += int(seen.counts.sum())
    for node, ns in time_by_node(seen).items():
        _add_stack(tree.root, found.stack(node), ns, users)


def _add_stack(root: _Branch, stack: Stack, ns: int, users: set[str]) -> None:
    branch = root
    branch.total_ns += ns
    for function in stack:
        place = (function.file, function.line, function.name)
        if place == branch.place:
            continue
        inner = branch.below.get(place)
        if inner is None:
            inner = branch.below[place] = _Branch(place, library_of(function.file, users))
        branch = inner
        branch.total_ns += ns
    branch.self_ns += ns


def _thread(run: Run, process: Process, tree: _Tree) -> ThreadStacks:
    name = min(tree.names)
    return ThreadStacks(
        process=process,
        thread=name if len(tree.names) == 1 else _NUMBER.sub("*", name),
        threads=tree.threads,
        main=tree.main,
        total_ns=tree.root.total_ns,
        samples=tree.samples,
        rows=[_row(run, tree, branch, depth) for branch, depth in _in_order(tree.root)],
    )


def _in_order(root: _Branch) -> Iterator[tuple[_Branch, int]]:
    """Callers before callees, the longest first. No recursion: stacks may be deep."""
    waiting = [(branch, 0) for branch in _shortest_first(root)]
    while waiting:
        branch, depth = waiting.pop()
        yield branch, depth
        waiting += [(inner, depth + 1) for inner in _shortest_first(branch)]


def _shortest_first(branch: _Branch) -> list[_Branch]:
    return sorted(branch.below.values(), key=lambda inner: (inner.total_ns, inner.place))


def _row(run: Run, tree: _Tree, branch: _Branch, depth: int) -> StackRow:
    file, line, name = branch.place
    return StackRow(
        depth=depth,
        file=shown_path(run, file),
        line=line,
        function=name,
        library=branch.library,
        total_ns=branch.total_ns,
        self_ns=branch.self_ns,
        share=branch.total_ns / tree.root.total_ns if tree.root.total_ns else 0.0,
    )


def sampled_functions(run: Run, process: ProcessData) -> list[SampledFunction]:
    """Own and inclusive time of every function that was seen, all threads together; a function
    that appears several times in a stack counts once."""
    found = stacks_of(process)
    own: dict[FunctionName, int] = {}
    inclusive: dict[FunctionName, int] = {}
    for seen in found.by_thread():
        for node, ns in time_by_node(seen).items():
            stack = found.stack(node)
            if not stack:
                continue
            for function in set(stack):
                inclusive[function] = inclusive.get(function, 0) + ns
            own[stack[-1]] = own.get(stack[-1], 0) + ns
    return [
        SampledFunction(
            file=shown_path(run, function.file),
            line=function.line,
            name=function.name,
            native=function.native,
            tottime_ns=own.get(function, 0),
            cumtime_ns=ns,
        )
        for function, ns in sorted(inclusive.items(), key=lambda each: (-each[1], each[0].id))
    ]
