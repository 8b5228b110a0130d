"""The stacks that the sampler saw in a process: functions from the outermost inwards."""

import dataclasses
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.store.reader import ProcessData
from stepscope.store.records import FunctionName, ThreadName

Stack = tuple[FunctionName, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Seen:
    """One thread over time: it was in stack `nodes[i]` from `start_ns[i]` for `weight_ns[i]`."""

    thread: ThreadName
    nodes: Ints
    start_ns: Ints
    weight_ns: Ints
    counts: Ints
    kinds: Ints  # SamplesKind: what it did there


@functools.lru_cache(maxsize=16)
def stacks_of(process: ProcessData) -> "Stacks":
    """Many questions ask for the same stacks."""
    return Stacks(process)


class Stacks:
    """What samples.bin of one process contains."""

    def __init__(self, process: ProcessData) -> None:
        self._process = process
        found = process.samples
        numbers = found.numbers.tolist()
        self._parent = dict(zip(numbers, found.nodes["parent"].tolist(), strict=True))
        self._function = dict(zip(numbers, found.nodes["function"].tolist(), strict=True))
        self._names = process.names.functions
        self._known: dict[int, Stack] = {}

    @property
    def is_cut(self) -> bool:
        """Whether frames were left out of deep stacks."""
        return 0 in self._function.values()

    def stack(self, node: int) -> Stack:
        """The functions of a stack; frames that were left out are simply not there."""
        if node not in self._known:
            self._known[node] = tuple(map(self._name, reversed(self._inwards_out(node))))
        return self._known[node]

    def _inwards_out(self, node: int) -> list[int]:
        found = []
        while node:
            found.append(self._function[node])
            node = self._parent[node]
        return list(filter(None, found))

    def _name(self, function: int) -> FunctionName:
        known = self._names.get(function)
        return known or FunctionName(function, "?", 0, f"function {function}")

    def by_thread(self, *, kinds_apart: bool = False) -> list[Seen]:
        """Each thread that was seen, in the order in which they were named. Samples in a row of one
        stack are one, unless what the thread did there is to be kept apart."""
        samples, clock = self._process.samples.samples, self._process.clock
        samples = samples[np.lexsort((samples["start"], samples["thread"]))]
        samples = samples if kinds_apart else _joined(samples)
        numbers, starts = np.unique(samples["thread"], return_index=True)
        return [
            Seen(
                thread=self._thread(number),
                nodes=mine["node"].astype(np.int64),
                start_ns=clock.ns(mine["start"]),
                weight_ns=clock.duration_ns(mine["weight"]),
                counts=mine["count"].astype(np.int64),
                kinds=mine["tag"].astype(np.int64) & 0xFF,
            )
            for number, mine in zip(numbers.tolist(), np.split(samples, starts[1:]), strict=False)
        ]

    def _thread(self, number: int) -> ThreadName:
        return self._process.names.threads.get(number, ThreadName(number, f"thread {number}"))


def _joined(samples: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Samples in order, each with those of the same stack that follow without a gap, and are other
    records only because the thread did something else."""
    before, after = samples[:-1], samples[1:]
    goes_on = (before["thread"] == after["thread"]) & (before["node"] == after["node"])
    goes_on &= before["tag"] != after["tag"]
    goes_on &= before["start"] + before["weight"] == after["start"]
    first = np.flatnonzero(np.concatenate([[True], ~goes_on])[: len(samples)])
    if len(first) == len(samples):
        return samples
    joined = samples[first].copy()
    for field in ("weight", "count"):
        joined[field] = np.add.reduceat(samples[field], first)
    return joined


def time_by_node(seen: Seen) -> dict[int, int]:
    """Node to ns."""
    nodes, where = np.unique(seen.nodes, return_inverse=True)
    sums = np.zeros(len(nodes), np.int64)
    np.add.at(sums, where, seen.weight_ns)
    return dict(zip(nodes.tolist(), sums.tolist(), strict=True))
