"""What launched a kernel: the call into the device's library, and the operator around that call.

1. A kernel and the call that launched it have the same correlation id. Where several calls have it,
   as in a file with several processes, it is the last one that began before the kernel.
2. The operator is the innermost one around the begin of that call, on its thread.
3. Where there is no such call or operator, the external id names the operator, if that is what the
   file means by it: some versions of Kineto repeat the correlation id there.
"""

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.traces.nesting import Indices, parents
from stepscope.clock import Ints
from stepscope.importers.trace import Category, Trace

_NONE: Final = -1
_MOSTLY: Final = 0.5  # of the device's events: a single one may have two equal ids by chance


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """What launched each event of a device."""

    is_known: npt.NDArray[np.bool_]
    thread: Ints
    start_ns: Ints
    end_ns: Ints


def launching_calls(calls: npt.NDArray[Any], device: npt.NDArray[Any]) -> Indices:
    """Which of the calls launched each event of the device, -1: not known."""
    return _latest(calls["correlation"], calls["start_ns"], device["correlation"], device)


def calls_of(trace: Trace, device: npt.NDArray[Any]) -> Call:
    """The calls that launched these events."""
    calls = trace.of(Category.RUNTIME)
    found = launching_calls(calls, device)
    is_known = found >= 0
    if not len(calls):
        nothing = np.zeros(len(device), np.int64)
        return Call(is_known, nothing, nothing, nothing)
    calls = calls[found]
    ends = calls["start_ns"] + calls["duration_ns"]
    return Call(is_known, calls["thread"], calls["start_ns"], ends)


def operators_of(trace: Trace, device: npt.NDArray[Any], operators: npt.NDArray[Any]) -> Indices:
    """The index of the operator that launched each event of the device, -1: not known."""
    found = np.full(len(device), _NONE, np.int64)
    if not len(device) or not len(operators):
        return found
    call = calls_of(trace, device)
    known = np.flatnonzero(call.is_known)
    found[known] = _around(operators, call.thread[known], call.start_ns[known])
    if not _names_operators(device):
        return found
    named = _latest(operators["external"], operators["start_ns"], device["external"], device)
    return np.where(found < 0, named, found)


def _names_operators(device: npt.NDArray[Any]) -> bool:
    """Whether the external ids are those of operators."""
    both = (device["external"] >= 0) & (device["correlation"] >= 0)
    same = device["external"][both] == device["correlation"][both]
    return not same.any() or float(same.mean()) < _MOSTLY


def _around(operators: npt.NDArray[Any], thread: Ints, at_ns: Ints) -> Indices:
    """The innermost operator at each of these moments, -1: none."""
    start = np.concatenate([operators["start_ns"], at_ns])
    end = np.concatenate([operators["start_ns"] + operators["duration_ns"], at_ns])
    threads = np.concatenate([operators["thread"], thread])
    is_moment = np.arange(len(start)) >= len(operators)
    order = np.lexsort((is_moment, -end, start, threads))
    parent = parents(threads[order], start[order], end[order])
    found = np.full(len(start), _NONE, np.int64)
    found[order] = np.where(parent >= 0, order[parent], _NONE)
    return found[len(operators) :]


def _latest(
    known_id: Ints, known_start_ns: Ints, wanted_id: Ints, wanted: npt.NDArray[Any]
) -> Indices:
    """The last of the known with the same id that began before the wanted one, or else the first
    after it: clocks of host and device differ a little. -1: none has this id. 0 is no id."""
    order = _by_id(known_id, known_start_ns)
    if not len(order) or not len(wanted_id):
        return np.full(len(wanted_id), _NONE, np.int64)
    ids = known_id[order]
    found = np.minimum(np.searchsorted(ids, wanted_id), len(ids) - 1)
    exists = (ids[found] == wanted_id) & (wanted_id > 0)
    if (ids[1:] == ids[:-1]).any():
        behind, wanted_ns = np.searchsorted(ids, wanted_id, side="right"), wanted["start_ns"]
        for index in np.flatnonzero(exists & (behind > found + 1)).tolist():
            starts = known_start_ns[order[found[index] : behind[index]]]
            begun = np.searchsorted(starts, wanted_ns[index])
            found[index] += max(0, int(begun) - 1)
    return np.where(exists, order[found], _NONE)


def _by_id(ids: Ints, start_ns: Ints) -> Indices:
    """Those that have an id, by that and by start. Most files have them in that order."""
    found = np.flatnonzero(ids > 0)
    there = ids[found]
    if (there[1:] > there[:-1]).all():
        return found
    return found[np.lexsort((start_ns[found], there))]
