"""Which edges of a code object's control flow begin a source line, as CPython 3.11 traces them."""

import functools

# bisect, loaded so late, could be the script's own module.
from _bisect import bisect_right
from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

from bytecode import ConcreteBytecode, ConcreteInstr
from bytecode.instr import InstrLocation

# After these the next instruction is not reached by falling through.
_ENDS = frozenset(
    "JUMP_FORWARD JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT "
    "RETURN_VALUE RAISE_VARARGS RERAISE".split()
)
# Only what can raise may send control to a handler; leaving these out keeps decisions static.
_CANNOT_RAISE = frozenset(
    "NOP POP_TOP PUSH_NULL LOAD_CONST STORE_FAST STORE_DEREF COPY SWAP JUMP_FORWARD KW_NAMES "
    "LOAD_CLOSURE PUSH_EXC_INFO POP_EXCEPT RETURN_VALUE IS_OP PRECALL".split()
)


class Node:
    """One instruction, with its inline caches."""

    __slots__ = ("caches", "guard", "instr", "jump", "line", "location", "name")

    def __init__(self, instr: ConcreteInstr, location: InstrLocation) -> None:
        self.instr, self.location = instr, location
        self.name, self.line = instr.name, location.lineno
        self.caches = 0
        self.jump: int | None = None  # index of the node it jumps to
        self.guard: int | None = None  # index of the exception table entry that covers it


class Guard(NamedTuple):
    """An entry of the exception table."""

    handler: int  # index of the handler's first node
    stack_depth: int
    push_lasti: bool


class Flow:
    """A code object's instructions, and for each edge whether taking it begins a line."""

    def __init__(self, nodes: list[Node], guards: list[Guard], entry: int) -> None:
        self.nodes, self.guards = nodes, guards
        self.entry = entry  # index of the RESUME at which tracing begins
        self.fall_begins: list[bool] = []  # from the node before, by falling through
        self.jump_begins: list[bool] = []  # by the jump of this node, at its target
        self.raise_begins: list[bool] = []  # by an exception in this node, at its handler

    def falls_into(self, index: int) -> bool:
        return index > 0 and self.nodes[index - 1].name not in _ENDS


def read_flow(code: CodeType) -> Flow:
    """Decode, then judge every edge P -> I by the rule of ceval.c's maybe_call_line_trace:

    1. instructions up to the first RESUME, every RESUME, and those without a line begin nothing;
    2. otherwise I begins its line when P's line differs (what comes from the first RESUME always
       differs), or when the edge leads backward and I is not a SEND;
    3. for an exception P is the instruction that raised; RERAISE with an argument restores the one
       that its handler was entered from.
    """
    nodes, guards = _decode(code)
    entry = next(i for i, node in enumerate(nodes) if node.name == "RESUME")
    flow = Flow(nodes, guards, entry)
    flow.fall_begins = [
        flow.falls_into(i) and _begins_line(flow, i - 1, i) for i in range(len(nodes))
    ]
    flow.jump_begins = [
        node.jump is not None and _begins_line(flow, i, node.jump) for i, node in enumerate(nodes)
    ]
    flow.raise_begins = _judge_exceptions(flow)
    return flow


def _begins_line(flow: Flow, source: int, target: int) -> bool:
    node = flow.nodes[target]
    if node.line is None or node.name == "RESUME" or target <= flow.entry:
        return False
    if source <= flow.entry or flow.nodes[source].line != node.line:
        return True
    return source > target and node.name != "SEND"


# --- exceptions ---------------------------------------------------------------------------------


def _judge_exceptions(flow: Flow) -> list[bool]:
    origins = _Origins(flow)
    verdicts: list[bool] = []
    last: tuple[int | None, bool] = (None, False)
    for i, node in enumerate(flow.nodes):
        if node.guard is None:
            last = (None, False)
        elif node.name not in _CANNOT_RAISE or last[0] != node.guard:
            last = (node.guard, _raise_begins_line(flow, origins, i, node.guard))
        verdicts.append(last[1])
    return verdicts


def _raise_begins_line(flow: Flow, origins: "_Origins", source: int, guard: int) -> bool:
    """Origins disagree only when a `with` of several managers is left because one manager's exit
    raised: the body decides then, and the header may count one hit too many."""
    handler = flow.guards[guard].handler
    if flow.nodes[handler].line is None:
        return False
    return any(_begins_line(flow, origin, handler) for origin in origins.of(source))


class _Origins:
    """Which instructions the interpreter takes for the previous one when `source` raises."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._guarded: dict[int, list[int]] = {}
        for i, node in enumerate(flow.nodes):
            if node.guard is not None:
                self._guarded.setdefault(flow.guards[node.guard].handler, []).append(i)
        self._handlers = sorted(self._guarded)

    def of(self, source: int) -> frozenset[int]:
        return frozenset(self._walk(source, set()))

    def _walk(self, source: int, seen: set[int]) -> Iterator[int]:
        node = self._flow.nodes[source]
        handler = self._handler_of(source) if node.name == "RERAISE" and node.instr.arg else None
        if handler is None:
            yield source
        elif handler not in seen:
            seen.add(handler)
            for i in self._guarded[handler]:
                if self._flow.nodes[i].name not in _CANNOT_RAISE:
                    yield from self._walk(i, seen)

    def _handler_of(self, source: int) -> int | None:
        """The compiler writes a handler and its RERAISE as one stretch of code."""
        place = bisect_right(self._handlers, source)
        return self._handlers[place - 1] if place else None


# --- decoding -----------------------------------------------------------------------------------


def _decode(code: CodeType) -> tuple[list[Node], list[Guard]]:
    concrete = ConcreteBytecode.from_code(code)
    nodes: list[Node] = []
    at_offset: dict[int, int] = {}
    jumps: list[tuple[int, int]] = []
    offset = 0
    for instr in concrete:
        assert isinstance(instr, ConcreteInstr)
        if instr.name == "CACHE":
            nodes[-1].caches += 1
        else:
            at_offset[offset] = len(nodes)
            location = _packable(instr.location)
            target = instr.get_jump_target(offset)
            if target is not None:
                jumps.append((len(nodes), target))
            nodes.append(Node(instr, location))
        offset += instr.size // 2
    for i, target in jumps:
        nodes[i].jump = at_offset[target]
    guards: list[Guard] = []
    for entry in concrete.exception_table:
        for position in range(entry.start_offset, entry.stop_offset + 1):
            if position in at_offset:
                nodes[at_offset[position]].guard = len(guards)
        guards.append(Guard(at_offset[entry.target], entry.stack_depth, entry.push_lasti))
    return nodes, guards


@functools.lru_cache(maxsize=1)
def no_location() -> InstrLocation:
    """Without it an inserted instruction would inherit the line of the one before."""
    return InstrLocation(None, None, None, None)


def _packable(location: InstrLocation | None) -> InstrLocation:
    """`bytecode` refuses the compiler's rare locations that have lines but no columns."""
    if location is None or location.lineno is None:
        return no_location()
    if location.col_offset is None or location.end_col_offset is None:
        return InstrLocation(location.lineno, location.lineno, None, None)
    return location
