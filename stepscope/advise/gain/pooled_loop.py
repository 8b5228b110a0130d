"""What it gains to write a loop as array operations that a pool of processes or threads runs.

The step waits for the pool. Of what the pool does meanwhile, the loop takes a share, and so it does
of the wait.
"""

import collections
import dataclasses
from collections.abc import Iterator
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.code import StepLine
from stepscope.advise.evidence.hot_loops import HotLoop, hot_loops
from stepscope.advise.evidence.source import Sources
from stepscope.advise.gain.less_loading import LessLoading
from stepscope.advise.gain.loading_loop import lines_of
from stepscope.advise.gain.vectorised import vectorised
from stepscope.analyze.code.lines import lines
from stepscope.analyze.code.sampled_stacks import Stack, stacks_of, time_by_node
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.input.loaders import find_loader
from stepscope.analyze.libraries import users_files
from stepscope.analyze.run import shown_path
from stepscope.store.reader import ProcessData

# Python's pools and joblib's: in the stacks of what waits for them, and of what works in them.
_POOLS: Final = ("/multiprocessing/pool.py", "/concurrent/futures/", "/joblib/")

Place = tuple[str, str]  # file as shown, qualified name


@dataclasses.dataclass(frozen=True, eq=False)
class PooledWork:
    """By step."""

    looks: list[Look]  # of the steps' thread, while it waits
    wait_ns: float
    busy_ns: float  # of all processes and threads of the pool together
    processes: list[ProcessData]
    places: set[Place]  # the user's functions that it runs


@dataclasses.dataclass(frozen=True, eq=False)
class PooledLoop:
    process: ProcessData
    less: LessLoading


def pooled_work(case: Case) -> PooledWork | None:
    """What the steps wait for, if that is a pool."""
    looks = [look for look in case.stacks.free() if look.phase != "input" and _is_pools(look)]
    share = case.stacks.sure_share(looks)
    if not share:
        return None
    busy_ns, found, places = 0, [], set[Place]()
    for process in _candidates(case):
        spent = _worked_ns(case, process)
        if spent:
            found.append(process)
            busy_ns += sum(spent.values())
            places |= {place for stack in spent for place in stack}
    if not busy_ns:
        return None
    return PooledWork(looks, share * case.step_ns, busy_ns / len(case.steps), found, places)


def pooled_loop(case: Case, work: PooledWork) -> PooledLoop | None:
    """The loop over elements that takes most of it, if there is one."""
    found = [(process, *each) for process in work.processes for each in _loops(case, work, process)]
    if not found:
        return None
    process, sources, among, loop = max(found, key=lambda each: each[3].ns)
    saved = vectorised(loop.ns, lines_of(sources, loop, among, case.machine.with_core))
    # Each of the pool's processes does its part of the same.
    part = sum(each.ns for *_, each in found if _is_same(each, loop)) / loop.ns
    loop = dataclasses.replace(loop, ns=part * loop.ns, turns=part * (loop.turns or 0.0) or None)
    saved = dataclasses.replace(
        saved,
        expected=part * saved.expected,
        least=part * saved.least,
        most=part * (saved.most or 0.0),
    )
    return PooledLoop(process, LessLoading(max(loop.ns, work.busy_ns), saved, loop))


def _is_same(one: HotLoop, other: HotLoop) -> bool:
    mine, theirs = one.function.function, other.function.function
    return (mine.file, one.first, one.last) == (theirs.file, other.first, other.last)


def _loops(
    case: Case, work: PooledWork, process: ProcessData
) -> Iterator[tuple[Sources, list[StepLine], HotLoop]]:
    run, count = dataclasses.replace(case.run, processes=[process]), len(case.steps)
    among = [
        StepLine(function, row, row.ns / count, (row.likely_hits or row.hits) / count)
        for function in lines(run).functions
        if (function.file, function.function) in work.places
        for row in function.lines
    ]
    sources = Sources([line.function for line in among], case.run, process)
    for loop in hot_loops(sources, among, case.machine.with_core):
        yield sources, among, loop


def _is_pools(look: Look) -> bool:
    return any(_is_pool(frame.function.file) for frame in look.frames)


def _is_pool(file: str) -> bool:
    return any(part in file for part in _POOLS)


def _candidates(case: Case) -> list[ProcessData]:
    """The process itself, for its threads, and its children but for those that load batches."""
    loader = find_loader(case.run, case.process, case.steps)
    loads = {each.info.pid for each in loader.processes} if loader else set[int]()
    pid = case.process.info.pid
    children = [each for each in case.run.processes if each.info.parent_pid == pid]
    return [case.process, *(each for each in children if each.info.pid not in loads)]


def _worked_ns(case: Case, process: ProcessData) -> dict[tuple[Place, ...], int]:
    """By the user's functions that the pool called."""
    spent: dict[tuple[Place, ...], int] = collections.defaultdict(int)
    stacks, users = stacks_of(process), users_files(process)
    for seen in stacks.by_thread():
        if process is case.process and seen.thread.id == case.steps.thread:
            continue
        for node, ns in time_by_node(seen).items():
            inside = _inside(stacks.stack(node))
            places = tuple(
                (shown_path(case.run, e.file), e.name) for e in inside if e.file in users
            )
            if places:
                spent[places] += ns
    return spent


def _inside(stack: Stack) -> Stack:
    """What is below the pool's own functions; a forked process has the stack of its parent."""
    pools = [number for number, each in enumerate(stack) if _is_pool(each.file)]
    return stack[pools[-1] + 1 :] if pools else ()
