"""On which of the user's lines each operator was called.

1. In a window the line engine records when each line begins and when it continues after a call.
   An operator belongs to the line that ran on its thread when it began.
2. A backward operator belongs to the line of its forward twin: torch draws a flow between the two,
   and numbers them alike. If the user's own code ran inside it (a custom backward, a
   checkpoint's forward), that code's line counts.
3. Without a twin (gradients that are accumulated) it stays with the line that called backward.
4. Operators of threads without lines, such as autograd's for a device or those of a graph, use
   the main thread's: the line that called the function. Lines of files that TensorFlow writes
   from the user's functions are not the user's: the line that called them counts.
5. If the trace itself names the line that made an operation, that line counts if it is the user's
   own; in a trace without a recording around it, any line counts, and so does a function that
   its stacks name.
6. What an input pipeline does beside the steps belongs to no line.
"""

import dataclasses
import functools
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.libraries import generated_codes
from stepscope.analyze.traces.nesting import Indices, any_above, outermost
from stepscope.analyze.traces.operator_tree import OpTree, op_tree
from stepscope.analyze.traces.stack_places import stack_places
from stepscope.analyze.traces.windows import Window
from stepscope.clock import Ints
from stepscope.importers.trace import Category, Source, Trace
from stepscope.store.reader import ProcessData

_BACKWARD: Final = "autograd::engine::evaluate_function"
_SHIFTS_NS: Final = np.arange(-10_000, 10_001, 250)  # how far the two clocks may be apart
_ENOUGH: Final = 2_000  # operators needed to find that out


@dataclasses.dataclass(frozen=True, eq=False)
class Places:
    """For each operator the code and line; code 0: not the user's code; negative: one of the
    trace's own sources, counted from -1."""

    code: Indices
    line: Indices


@dataclasses.dataclass(frozen=True, eq=False)
class _Log:
    """Lines of one thread, from each moment on."""

    at_ns: Ints
    code: Indices
    line: Indices

    def segment(self, at_ns: Ints) -> Indices:
        return np.searchsorted(self.at_ns, at_ns, side="right") - 1


@functools.lru_cache(maxsize=16)
def place_operators(process: ProcessData, window: Window, trace: Trace) -> Places:
    tree = op_tree(trace)
    places = Places(np.zeros(len(tree), np.int64), np.zeros(len(tree), np.int64))
    logs = _logs(process, window)
    if not len(tree):
        return places
    if not logs:
        _follow_stacks(tree, places)
        _follow_sources(process, tree, places)
        return places
    start_ns = tree.events["start_ns"] + process.clock.monotonic_ns(0)
    longest = max(logs.values(), key=lambda log: len(log.at_ns))
    main = logs.get(process.main_thread, longest)
    for thread in np.unique(tree.events["thread"]):
        here = np.flatnonzero(tree.events["thread"] == thread)
        log = logs.get(_our_thread(process, trace, int(thread)), main)
        _place(tree, here, log, start_ns, places)
    follow_twins(tree, places)
    places.code[tree.events["is_input"]] = 0
    _follow_sources(process, tree, places)
    return places


@functools.lru_cache(maxsize=16)
def _logs(process: ProcessData, window: Window) -> dict[int, _Log]:
    if window.start_ns is None or window.end_ns is None:
        return {}
    begun = process.line_begins
    at_ns = begun.at_ns
    ours = ~np.isin(begun.name, generated_codes(process)) & (at_ns <= window.end_ns)
    logs = {}
    for thread in np.unique(begun.thread[ours]):
        mine = np.flatnonzero(ours & (begun.thread == thread))
        mine = mine[np.argsort(at_ns[mine], kind="stable")]
        # The log begins while the window is being opened, and ends before it is closed.
        before_ns = int(at_ns[mine][at_ns[mine] <= window.start_ns].max(initial=0))
        mine = mine[at_ns[mine] >= before_ns]
        logs[int(thread)] = _Log(
            at_ns[mine],
            begun.name[mine].astype(np.int64),
            begun.line[mine].astype(np.int64),
        )
    return logs


def _our_thread(process: ProcessData, trace: Trace, thread: int) -> int:
    native = trace.threads[thread].thread
    for known in process.names.threads.values():
        if str(known.native_id) == native:
            return known.id
    return -1


def _place(tree: OpTree, here: Indices, log: _Log, start_ns: Ints, places: Places) -> None:
    shift = _shift_ns(log, start_ns[here], start_ns[here] + tree.events["duration_ns"][here],
                      tree.parent[here] < 0)  # fmt: skip
    start_ns[here] += shift
    segment = log.segment(start_ns[here])
    known = segment >= 0
    at = np.maximum(segment, 0)
    places.code[here] = np.where(known, log.code[at], 0)
    places.line[here] = np.where(known, log.line[at], 0)


def _shift_ns(log: _Log, start_ns: Ints, end_ns: Ints, is_outermost: npt.NDArray[np.bool_]) -> int:
    """The two clocks agree to some microseconds. An operator that Python called begins and ends
    within one line: the right shift is the smallest at which the fewest cross a line's beginning.
    """
    outermost = np.flatnonzero(is_outermost)
    chosen = outermost[:: max(1, len(outermost) // _ENOUGH)]
    if not len(chosen):
        return 0
    crossing = np.array(
        [
            int(
                (log.segment(start_ns[chosen] + shift) != log.segment(end_ns[chosen] + shift)).sum()
            )
            for shift in _SHIFTS_NS.tolist()
        ]
    )
    best = _SHIFTS_NS[crossing == crossing.min()]
    return int(best[np.argmin(np.abs(best))])


def memory_places(process: ProcessData, window: Window, trace: Trace) -> Places:
    """The same for allocations and frees: with the outermost operator around each, else by time."""
    memory, tree = trace.memory, op_tree(trace)
    places = place_operators(process, window, trace)
    found = Places(np.zeros(len(memory), np.int64), np.zeros(len(memory), np.int64))
    logs = _logs(process, window)
    for thread in np.unique(memory["thread"]):
        here = np.flatnonzero(memory["thread"] == thread)
        log = logs.get(_our_thread(process, trace, int(thread)))
        if log is not None and len(log.at_ns):
            at = np.maximum(log.segment(memory["at_ns"][here] + process.clock.monotonic_ns(0)), 0)
            found.code[here], found.line[here] = log.code[at], log.line[at]
        outer = np.flatnonzero(_is_outermost_op(tree) & (tree.events["thread"] == thread))
        if len(outer):
            last = np.searchsorted(tree.events["start_ns"][outer], memory["at_ns"][here], "right")
            around = outer[np.maximum(last - 1, 0)]
            inside = (last > 0) & (memory["at_ns"][here] <= tree.end_ns[around])
            found.code[here[inside]] = places.code[around[inside]]
            found.line[here[inside]] = places.line[around[inside]]
    return found


def _is_outermost_op(tree: OpTree) -> npt.NDArray[np.bool_]:
    """Named ranges do not count: they may hold everything."""
    is_op: npt.NDArray[np.bool_] = tree.events["category"] == Category.OP
    return is_op & ~any_above(tree.parent, is_op)


# --- backward -------------------------------------------------------------------------------------


def follow_twins(tree: OpTree, places: Places) -> None:
    """Everything below a backward call of autograd goes to the line of the forward twin, except
    what the user's own lines called inside it."""
    roots = _backward_roots(tree)
    if not (roots >= 0).any():
        return
    twin_of = _twins(tree, roots)
    inside = np.flatnonzero(roots >= 0)
    root = roots[inside]
    twin = twin_of[root]
    code, line = places.code.copy(), places.line.copy()
    moves = (twin >= 0) & (code[inside] == code[root]) & (line[inside] == line[root])
    places.code[inside[moves]] = code[twin[moves]]
    places.line[inside[moves]] = line[twin[moves]]


def _backward_roots(tree: OpTree) -> Indices:
    """The outermost call of autograd's engine around each operator; -1: none."""
    names = tree.trace.names
    engine = [number for number, name in enumerate(names) if name.startswith(_BACKWARD)]
    return outermost(tree.parent, np.isin(tree.events["name"], engine))


def _twins(tree: OpTree, roots: Indices) -> Indices:
    """For each root of backward the operator whose gradient it computes; flows take precedence."""
    twin = np.full(len(tree), -1, np.int64)
    for backward, forward in (_by_sequence(tree, roots), _by_flow(tree)):
        root = roots[backward]
        known = (root >= 0) & (roots[forward] != root)
        twin[root[known]] = forward[known]
    return twin


def _by_flow(tree: OpTree) -> tuple[Indices, Indices]:
    """Backward and forward operators that a flow joins: each end has its operator's start."""
    flows = tree.trace.flows
    index = _last_at(tree, flows["thread"], flows["at_ns"])
    is_known, is_end, number = index >= 0, flows["is_end"], flows["id"]
    # From the last one on: of several with the same number, the last one counts.
    end, begin = (np.flatnonzero(is_known & each)[::-1] for each in (is_end, ~is_end))
    _, of_end, of_begin = np.intersect1d(number[end], number[begin], return_indices=True)
    order = np.argsort(end[of_end])
    return index[end[of_end][order]], index[begin[of_begin][order]]


def _last_at(tree: OpTree, thread: Ints, at_ns: Ints) -> Indices:
    """The innermost operator that begins on this thread at this moment, -1: none."""
    found = np.full(len(thread), -1, np.int64)
    for each in np.unique(thread).tolist():
        here = np.flatnonzero(thread == each)
        mine = np.flatnonzero(tree.events["thread"] == each)
        if len(mine):
            starts = tree.events["start_ns"][mine]
            last = np.maximum(np.searchsorted(starts, at_ns[here], side="right") - 1, 0)
            found[here] = np.where(starts[last] == at_ns[here], mine[last], -1)
    return found


def _by_sequence(tree: OpTree, roots: Indices) -> tuple[Indices, Indices]:
    """Of the operators that share a sequence number: the last one outside backward. Those before
    it made nothing that has a gradient."""
    sequence = tree.events["sequence"]
    is_op = (sequence >= 0) & (tree.events["category"] == Category.OP)
    forward, below = np.flatnonzero(is_op & (roots < 0)), np.flatnonzero(is_op & (roots >= 0))
    if not len(forward):
        return forward, forward
    forward = forward[np.argsort(sequence[forward], kind="stable")]
    last = np.searchsorted(sequence[forward], sequence[below], side="right") - 1
    twin = forward[np.maximum(last, 0)]
    known = sequence[twin] == sequence[below]
    return below[known], twin[known]


# --- lines that the trace names -------------------------------------------------------------------


def _follow_stacks(tree: OpTree, places: Places) -> None:
    found = stack_places(tree.trace, tree.events)
    if found is None:
        return
    known = found.source >= 0
    places.code[known], places.line[known] = -1 - found.source[known], found.line[known]
    follow_twins(tree, places)


def _follow_sources(process: ProcessData, tree: OpTree, places: Places) -> None:
    sources = tree.events["source"]
    for number in np.unique(sources[sources >= 0]).tolist():
        here = sources == number
        code, line = source_place(process, tree.trace, number)
        if code > 0 or not process.names.codes:
            places.code[here], places.line[here] = code, line


@functools.lru_cache(maxsize=4096)
def source_place(process: ProcessData, trace: Trace, number: int) -> tuple[int, int]:
    """The user's innermost line in a stack that the trace has, as code and line; without one, the
    innermost of all, as in `Places`."""
    for source in trace.sources[number]:
        code = _code_at(process, source)
        if code:
            return code, source.line
    return -1 - number, trace.sources[number][0].line


def _code_at(process: ProcessData, source: Source) -> int:
    """The user's innermost code object around the line; 0: none."""
    files = {
        file.id
        for file in process.names.files.values()
        if file.path == source.file or file.path.endswith(f"/{source.file}")
    }
    around = [
        code
        for code in process.names.codes.values()
        if code.file in files and code.first_line <= source.line < code.first_line + code.lines
    ]
    return max(around, key=lambda code: code.first_line).id if around else 0
