"""The call tree of a trace that has every call of a Python function, as `--calls` records it.

1. A call is inside another one if it lies in it, on the same thread.
2. Calls of one function from the same place of the tree are one node: level by level, from the
   outermost, a node is a new pair of the node above and the function.
"""

import dataclasses

import numpy as np

from stepscope.analyze.traces.nesting import Indices, depths, parents
from stepscope.clock import FARTHEST, Ints
from stepscope.importers.frame_names import frame_of
from stepscope.importers.trace import Category, Trace
from stepscope.store.calls import Calls
from stepscope.store.records import FunctionName, ThreadName


@dataclasses.dataclass(frozen=True, eq=False)
class PythonCalls:
    calls: Calls
    functions: dict[int, FunctionName]
    threads: dict[int, ThreadName]


def python_calls(trace: Trace) -> PythonCalls | None:
    """None: the trace has no calls of Python functions."""
    events = trace.of(Category.PYTHON)
    if not len(events):
        return None
    end_ns = events["start_ns"] + events["duration_ns"]
    events = events[np.lexsort((-end_ns, events["start_ns"], events["thread"]))]
    parent = parents(
        events["thread"], events["start_ns"], events["start_ns"] + events["duration_ns"]
    )
    functions, function = _functions(trace, events["name"])
    threads = np.unique(events["thread"])
    root = np.searchsorted(threads, events["thread"])
    return PythonCalls(
        _tree(parent, function, root, events["duration_ns"], threads + 1),
        functions,
        _threads(trace, threads, events["thread"]),
    )


def _functions(trace: Trace, name: Ints) -> tuple[dict[int, FunctionName], Ints]:
    """By number from 1 on, and the number of each event's."""
    numbers, where = np.unique(name, return_inverse=True)
    named = {}
    for number, index in enumerate(numbers.tolist(), 1):
        frame = frame_of(trace.names[index])
        named[number] = FunctionName(number, frame.file, min(frame.line, 2**31), frame.function)
    return named, where + 1


def _threads(trace: Trace, threads: Ints, thread: Ints) -> dict[int, ThreadName]:
    """The one with the most calls is the main one."""
    most = int(np.bincount(thread).argmax())
    return {
        number + 1: ThreadName(
            number + 1,
            trace.threads[number].name or f"thread {trace.threads[number].thread}",
            main=number == most,
        )
        for number in threads.tolist()
    }


def _tree(parent: Indices, function: Ints, root: Ints, duration_ns: Ints, threads: Ints) -> Calls:
    """Nodes in the order of their depth, so that a parent comes before its children."""
    depth = depths(parent)
    node = np.zeros(len(parent), np.int64)
    above, of_node = [np.full(len(threads), -1)], [np.full(len(threads), -1)]
    made = len(threads)
    scale = int(function.max()) + 1
    for level in range(int(depth.max()) + 1):
        here = np.flatnonzero(depth == level)
        over = np.where(parent[here] >= 0, node[parent[here]], root[here])
        pairs, where = np.unique(over * scale + function[here], return_inverse=True)
        node[here] = made + where
        above.append(pairs // scale)
        of_node.append(pairs % scale)
        made += len(pairs)
    ticks = np.zeros(made, np.int64)
    np.add.at(ticks, node, duration_ns)
    return Calls(
        is_recorded=True,
        is_whole=True,
        function=np.concatenate(of_node),
        parent=np.concatenate(above),
        thread=np.concatenate([threads, np.zeros(made - len(threads), np.int64)]),
        calls=np.bincount(node, minlength=made),
        ticks=np.minimum(ticks, FARTHEST),
    )
