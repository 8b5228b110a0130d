"""The stages of a tf.data pipeline in a trace: their own time, how parallel they are, and which
operations the functions in them call.

1. A stage's own time is what the stages inside it leave, on its thread.
2. A stage that works ahead (Prefetch, ParallelMap) does so on its own threads: what they do, and
   the functions that they have others run, is its time; waiting for it is not.
"""

import collections
import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.traces.batch_fetches import fetches
from stepscope.analyze.traces.operator_tree import op_tree
from stepscope.clock import Ints
from stepscope.importers.causes import HostEvents
from stepscope.importers.runtime_names import CAPTURED, ITERATOR, PROCESS, stage_of
from stepscope.importers.trace import Category, Trace

Pairs = tuple[Ints, Ints]
_PRODUCE: Final = "Produce"  # PrefetchProduce, ParallelMapProduce: one element, ahead of time
# Stages that work ahead by their names: where all batches are ready, none of them produces any.
_AHEAD: Final = ("Prefetch", "Parallel")


@dataclasses.dataclass(frozen=True)
class Stage:
    name: str
    calls: int
    self_ns: int
    parallelism: float


@dataclasses.dataclass(frozen=True)
class Operation:
    name: str
    calls: int
    self_ns: int


def waits(host: HostEvents) -> Pairs:
    """When an operation fetched a batch for the training; Unix time."""
    fetched = fetches(host)
    return union(host.start_ns[fetched], host.end_ns[fetched])


def taking_ns(host: HostEvents) -> tuple[Ints, Ints]:
    """(how long each batch was waited for, how much of that nothing worked on one): a batch that is
    ready takes the latter."""
    fetched = fetches(host)
    start, end = host.start_ns[fetched], host.end_ns[fetched]
    return end - start, end - start - overlap_ns(start, end, _Kinds(host).at_work())


def batches(host: HostEvents) -> int:
    """How many were fetched: the trace has the operation, its work, or both."""
    fetched = fetches(host)
    is_work = np.array(["::" in name for name in host.names] or [False], np.bool_)[host.name]
    return int(max((fetched & is_work).sum(), (fetched & ~is_work).sum()))


def stages(host: HostEvents) -> list[Stage]:
    """The most own time first."""
    kinds = _Kinds(host)
    own = _own_ns(host, kinds.is_stage | kinds.is_produce)
    calls: collections.Counter[str] = collections.Counter()
    work: dict[str, list[tuple[int, int, int]]] = collections.defaultdict(list)
    for index, name in kinds.stage_of.items():
        calls[name] += int(kinds.is_stage[index])
        if kinds.is_produce[index] or not kinds.works_ahead(name):
            work[name].append((int(host.start_ns[index]), int(host.end_ns[index]), int(own[index])))
    for index, name in kinds.functions():
        start, end = int(host.start_ns[index]), int(host.end_ns[index])
        work[name].append((start, end, end - start))
    found = [_stage(name, count, work[name]) for name, count in calls.items() if count]
    return sorted(found, key=lambda stage: -stage.self_ns)


def _stage(name: str, calls: int, work: list[tuple[int, int, int]]) -> Stage:
    table = np.array(work, np.int64).reshape(-1, 3)
    starts, ends = union(table[:, 0], table[:, 1])
    lasted_ns, once_ns = int((table[:, 1] - table[:, 0]).sum()), int((ends - starts).sum())
    parallelism = lasted_ns / once_ns if once_ns else 1.0
    return Stage(name, calls, int(table[:, 2].sum()), parallelism)


class _Kinds:
    """Which events belong to which stage."""

    def __init__(self, host: HostEvents) -> None:
        self._host = host
        self.is_stage = host.named(ITERATOR)
        produces = np.array([name.endswith(_PRODUCE) for name in host.names] or [False], np.bool_)
        self.is_produce = produces[host.name]
        self.stage_of = {
            index: stage_of(host.names[host.name[index]])
            for index in np.flatnonzero(self.is_stage).tolist()
        }
        stages = sorted(set(self.stage_of.values()))
        self._ahead = {name[: -len(_PRODUCE)] for name in host.names if name.endswith(_PRODUCE)}
        for index in np.flatnonzero(self.is_produce).tolist():
            begins = host.names[host.name[index]][: -len(_PRODUCE)]
            self.stage_of[index] = next((s for s in stages if s.startswith(begins)), begins)

    def works_ahead(self, stage: str) -> bool:
        """On its own threads: asking it for an element is only waiting."""
        return any(stage.startswith(begins) for begins in self._ahead)

    def at_work(self) -> Pairs:
        """When any stage makes a batch: not while it only asks one that works ahead, on other
        threads."""
        host = self._host
        asks = self.is_stage.copy()
        asks[asks] = [
            self.works_ahead(stage) or stage.startswith(_AHEAD)
            for index, stage in self.stage_of.items()
            if self.is_stage[index]
        ]
        for index in np.flatnonzero(asks).tolist():
            above = int(host.parent[index])
            while above >= 0 and not asks[above]:
                asks[above], above = True, int(host.parent[above])
        works = self.is_produce | (self.is_stage & ~asks)
        works[[index for index, _ in self.functions()]] = True
        return union(host.start_ns[works], host.end_ns[works])

    def functions(self) -> list[tuple[int, str]]:
        """Calls of the user's functions that a stage had other threads do: (event, stage)."""
        host, step = self._host, self._host.stats["step_id"]
        stage_of_step: dict[int, str] = {}
        for index in np.flatnonzero(host.named(CAPTURED) & (step != -1)).tolist():
            above = int(host.parent[index])
            while above >= 0 and above not in self.stage_of:
                above = int(host.parent[above])
            if above >= 0 and self.works_ahead(self.stage_of[above]):
                stage_of_step[int(step[index])] = self.stage_of[above]
        work = np.flatnonzero(host.named(PROCESS) & np.isin(step, list(stage_of_step)))
        return [(index, stage_of_step[int(step[index])]) for index in work.tolist()]


def _own_ns(host: HostEvents, which: npt.NDArray[np.bool_]) -> Ints:
    """The time of each without the nearest of `which` inside it."""
    own = host.end_ns - host.start_ns
    nearest: list[int] = []
    marked = which.tolist()
    for index, above in enumerate(host.parent.tolist()):
        nearest.append(above if above < 0 or marked[above] else nearest[above])
        if marked[index] and nearest[index] >= 0:
            own[nearest[index]] -= host.end_ns[index] - host.start_ns[index]
    return own


def operations(trace: Trace) -> list[Operation]:
    """Those of the user's functions and of the stages themselves, by name."""
    tree = op_tree(trace)
    mine = tree.events["is_input"] & (tree.events["category"] == Category.OP)
    totals: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    names = tree.events["name"][mine].tolist()
    for name, ns in zip(names, tree.self_ns[mine].tolist(), strict=True):
        if not trace.names[name].startswith(ITERATOR):
            totals[trace.names[name]][0] += 1
            totals[trace.names[name]][1] += ns
    found = [Operation(name, calls, ns) for name, (calls, ns) in totals.items()]
    return sorted(found, key=lambda each: -each.self_ns)
