"""In which of the model's modules each operator ran: `Net`, `Net › Block › Linear`.

1. In our windows a module's call is a span; in a trace with stacks, a call `nn.Module: Linear_3`.
   What lies inside another call, on the same thread, is called by it.
2. Modules of one class at the same place of the model are one: twelve layers alike are one row.
3. An operator belongs to the innermost call around it; a backward operator to the module of its
   forward twin.
"""

import dataclasses
import functools
import re
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.traces.nesting import Indices, parents
from stepscope.analyze.traces.operator_lines import Places, follow_twins
from stepscope.analyze.traces.operator_tree import OpTree, op_tree
from stepscope.analyze.traces.stack_places import around
from stepscope.analyze.traces.windows import Window
from stepscope.clock import Ints
from stepscope.importers.trace import Category, Trace
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

_OF_STACKS: Final = re.compile(r"nn\.Module: (.+?)(?:_\d+)?")
_CALLS: Final = (SpanCategory.FORWARD, SpanCategory.MODULE)

Path = tuple[str, ...]  # classes, from the outermost on; empty: outside of all modules


@dataclasses.dataclass(frozen=True, eq=False)
class ModuleCalls:
    """`paths` has the empty one first; `of_operator`: the index of each operator's path; `calls`:
    how often a module of each path was called."""

    paths: list[Path]
    of_operator: Indices
    calls: Ints


@dataclasses.dataclass(frozen=True, eq=False)
class _Calls:
    """By thread and start, the longer first. Threads are numbered as in the trace."""

    thread: Ints
    start_ns: Ints
    end_ns: Ints
    name: list[str]


@functools.lru_cache(maxsize=16)
def module_calls(process: ProcessData, window: Window, trace: Trace) -> ModuleCalls | None:
    """None: it is not known when modules were called."""
    calls = _recorded(process, window, trace) if window.start_ns is not None else _of_stacks(trace)
    if calls is None or not len(calls.name):
        return None
    tree = op_tree(trace)
    paths, path = _paths(calls)
    places = Places(_of_operators(tree, calls, path), np.zeros(len(tree), np.int64))
    follow_twins(tree, places)
    return ModuleCalls(paths, places.code, np.bincount(path, minlength=len(paths)))


def _of_stacks(trace: Trace) -> _Calls | None:
    found = [_OF_STACKS.fullmatch(name) for name in trace.names]
    is_module = np.array([each is not None for each in found] or [False])
    events = trace.of(Category.PYTHON)
    events = events[is_module[events["name"]]]
    if not len(events):
        return None
    names = [found[number] for number in events["name"].tolist()]
    start_ns = events["start_ns"]
    words = [each[1] for each in names if each is not None]
    return _sorted(events["thread"], start_ns, start_ns + events["duration_ns"], words)


def _recorded(process: ProcessData, window: Window, trace: Trace) -> _Calls | None:
    """The spans of the window, on the clock of its trace."""
    spans = process.spans.of(*_CALLS)
    spans = spans[
        (spans.end_ns >= (window.start_ns or 0)) & (spans.start_ns <= (window.end_ns or 0))
    ]
    if not (spans.category == SpanCategory.MODULE).any():
        return None
    to_unix = -process.clock.monotonic_ns(0)
    natives = {each.thread: number for number, each in enumerate(trace.threads)}
    known = {each.id: str(each.native_id) for each in process.names.threads.values()}
    threads = [natives.get(known.get(each, ""), -1) for each in spans.thread.tolist()]
    names = process.names.spans
    words = [names[each].name if each in names else "?" for each in spans.name.tolist()]
    start_ns, end_ns = spans.interval_ns
    return _sorted(np.array(threads, np.int64), start_ns + to_unix, end_ns + to_unix, words)


def _sorted(thread: Ints, start_ns: Ints, end_ns: Ints, name: list[str]) -> _Calls:
    order = np.lexsort((-end_ns, start_ns, thread))
    names = [name[each] for each in order.tolist()]
    return _Calls(thread[order], start_ns[order], end_ns[order], names)


def _paths(calls: _Calls) -> tuple[list[Path], Indices]:
    """All of them, and the index of each call's."""
    above = parents(calls.thread, calls.start_ns, calls.end_ns)
    numbers: dict[Path, int] = {(): 0}
    known = list(numbers)
    path = np.zeros(len(above), np.int64)
    for at, (parent, name) in enumerate(zip(above.tolist(), calls.name, strict=True)):
        whole = (*(known[path[parent]] if parent >= 0 else ()), name)
        if whole not in numbers:
            numbers[whole] = len(known)
            known.append(whole)
        path[at] = numbers[whole]
    return known, path


def _of_operators(tree: OpTree, calls: _Calls, path: Indices) -> Indices:
    found = np.zeros(len(tree), np.int64)
    threads = np.unique(calls.thread)
    for thread in threads.tolist():
        mine = np.flatnonzero(calls.thread == thread)
        # Some versions number the threads of stacks on their own: if there is one, it is that.
        is_here: npt.NDArray[Any] = tree.events["thread"] == thread
        here = np.flatnonzero(is_here | (len(threads) == 1))
        starts = tree.events["start_ns"][here]
        at = around(calls.start_ns[mine], calls.end_ns[mine], starts,
                    starts + tree.events["duration_ns"][here])  # fmt: skip
        found[here] = np.where(at >= 0, path[mine[np.maximum(at, 0)]], 0)
    return found
