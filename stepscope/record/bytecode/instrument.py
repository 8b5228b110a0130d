"""Python 3.11: inserts ticks into bytecode, so that code counts its own lines.

A tick is `LOAD_CONST <tick>; UNARY_INVERT; POP_TOP`. `instrument` writes placeholders, so that its
result can be kept with marshal; `ticked.bind` puts the real ticks in their place.
"""

import enum
from collections.abc import Iterator
from types import CodeType
from typing import Final

from stepscope.record.bytecode.assemble import Cover, Listing, Unit, assemble
from stepscope.record.bytecode.bare_copy import TickPlace, append_copy
from stepscope.record.bytecode.line_starts import Flow, Node, no_location, read_flow
from stepscope.record.bytecode.ticked import Instrumented, Rewritten, rebuild, untouched
from stepscope.signal_handlers import let_pass

# A generator's throw() reads the argument of the instruction before the yield: it must stay SEND.
_DELEGATES: Final = "SEND"
# They call nothing, not even by dropping a reference, and hand over to no other thread.
_NEVER_WAIT: Final = frozenset(
    "NOP LOAD_FAST LOAD_CONST LOAD_CLOSURE LOAD_DEREF PUSH_NULL COPY SWAP PUSH_EXC_INFO".split()
)


class TickKind(enum.IntEnum):
    LINE = 0  # a line begins
    EXIT = 1  # the activation returns, is suspended, or is left by an exception
    LINE_IF_NEW = 2  # a line begins unless it is the current one (every edge is decided: not used)
    RESUME = 3  # a suspended activation resumes in this line


def instrument(code: CodeType) -> Instrumented:
    """Insert placeholders of ticks into `code` and all code nested in it."""
    skipped: list[str] = []
    rewritten = _rewrite_tree(code, skipped)
    return Instrumented(code, rebuild(code, rewritten), rewritten, tuple(skipped))


def _rewrite_tree(code: CodeType, skipped: list[str]) -> Rewritten:
    nested = tuple(
        _rewrite_tree(const, skipped) for const in code.co_consts if isinstance(const, CodeType)
    )
    try:
        return (*_Inserter(code).run(), nested)
    except Exception as error:  # whatever it is, only this function's lines are lost
        let_pass(error)
        where = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
        skipped.append(f"{where}: {type(error).__name__}: {error}")
        return untouched(nested)


class _Inserter:
    """Rewrites one code object.

    A node is written as
        [jump over the tick, when falling into it begins no line]
        "begin" label: tick of the line
        "plain" label: [exit tick] the instruction [resume tick]
    and every jump and exception table entry leads to the label that its edge needs.
    """

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._ticks: dict[tuple[int, int], int] = {}  # kind and line to the index of a constant
        self._flow: Flow = read_flow(code)
        self._listing = Listing()
        self._node_units: list[int] = []  # of each node, the index of the unit that it became
        self._tick_units: list[tuple[int, int, bool]] = []  # unit, node behind it, of a line
        self._begun = self._nodes_with_begin_label()
        self._entered = {node.jump for node in self._flow.nodes}
        self._entered |= {guard.handler for guard in self._flow.guards}

    def run(self) -> tuple[bytes, bytes, bytes, int, tuple[tuple[int, int], ...], bytes, bytes]:
        for i, node in enumerate(self._flow.nodes):
            if i in self._begun:
                self._write_line_tick(i, node)
            self._listing.mark(("plain", i))
            self._write_node(i, node)
        self._write_last_handler()
        made, starts, offsets = assemble(self._listing, self._code)
        whole = append_copy(made, self._code, self._tick_places(starts))
        about_ticks = made.co_stacksize, tuple(self._ticks), self._places(offsets)
        return (*whole[:3], *about_ticks, whole.bare)

    def _places(self, offsets: list[int]) -> bytes:
        """Of each instruction: steps from the one before it in both codes, and its caches."""
        steps = bytearray()
        plain_end = plain_before = ticked_before = -1
        for node, unit in zip(self._flow.nodes, self._node_units, strict=True):
            plain = plain_end + node.instr.size // 2
            steps += bytes((plain - plain_before, offsets[unit] - ticked_before, node.caches))
            plain_before, ticked_before = plain, offsets[unit]
            plain_end = plain + node.caches
        return bytes(steps)

    def _tick_places(self, starts: list[int]) -> Iterator[TickPlace]:
        """All but the one in the handler that ends every function."""
        nodes, plain = self._flow.nodes, [0]
        for node in nodes:
            plain.append(plain[-1] + node.instr.size // 2 + node.caches)
        always = self._begun - self._nodes_entered_within_their_line()
        for unit, i, is_line in self._tick_units:
            begins, after_caches = is_line and i in always, i > 0 and nodes[i - 1].caches > 0
            two = begins and self._has_two_units(i)
            yield TickPlace(starts[unit], plain[i], begins, after_caches, two)

    def _has_two_units(self, i: int) -> bool:
        """Of its own, or with the next instruction: no frame ever waits behind the first."""
        node = self._flow.nodes[i]
        if node.instr.size > 2 or node.caches:
            return True
        return node.name in _NEVER_WAIT and i + 1 not in self._entered and i + 1 not in self._begun

    def _nodes_entered_within_their_line(self) -> set[int]:
        flow, found = self._flow, set()
        for i, node in enumerate(flow.nodes):
            if flow.falls_into(i) and not flow.fall_begins[i]:
                found.add(i)
            if node.jump is not None and not flow.jump_begins[i]:
                found.add(node.jump)
            if node.guard is not None and not flow.raise_begins[i]:
                found.add(flow.guards[node.guard].handler)
        return found

    def _nodes_with_begin_label(self) -> set[int]:
        flow = self._flow
        begun = {i for i, begins in enumerate(flow.fall_begins) if begins}
        for i, node in enumerate(flow.nodes):
            if node.jump is not None and flow.jump_begins[i]:
                begun.add(node.jump)
            if node.guard is not None and flow.raise_begins[i]:
                begun.add(flow.guards[node.guard].handler)
        return begun

    # --- what is written ------------------------------------------------------------------------

    def _write_line_tick(self, i: int, node: Node) -> None:
        assert node.line is not None
        before = self._flow.nodes[i - 1]
        cover = self._cover(i)
        if self._flow.falls_into(i):
            if not self._flow.fall_begins[i]:
                self._add(Unit("JUMP_FORWARD", before.location, cover, target=("plain", i)))
        elif before.name == "JUMP_BACKWARD_NO_INTERRUPT":
            # throw() into an await looks up the instruction before the one it continues with.
            cover = self._cover(i - 1)
        self._listing.mark(("begin", i))
        self._tick_units.append((len(self._listing.units), i, True))
        self._write_tick(TickKind.LINE, node.line, Unit(node.name, node.location, cover))

    def _write_node(self, i: int, node: Node) -> None:
        cover = self._cover(i)
        like = Unit(node.name, node.location, cover)
        delegated = node.name == "YIELD_VALUE" and self._flow.nodes[i - 1].name == _DELEGATES
        if node.name in ("RETURN_VALUE", "YIELD_VALUE"):
            self._tick_units.append((len(self._listing.units), i, False))
            self._write_tick(TickKind.EXIT, 0, like)
        if delegated:
            self._write_unreached_send(i, like)
        self._node_units.append(len(self._listing.units))
        if node.jump is not None:
            target = ("begin" if self._flow.jump_begins[i] else "plain", node.jump)
            self._add(Unit(node.name, node.location, cover, target=target))
        else:
            self._add(Unit(node.name, node.location, cover, caches=node.caches, taken=node.instr))
        if node.name == "RESUME" and i > self._flow.entry and node.line is not None:
            self._tick_units.append((len(self._listing.units), i + 1, False))
            self._write_tick(TickKind.RESUME, node.line, like)

    def _write_unreached_send(self, i: int, like: Unit) -> None:
        """The exit tick separated the yield from its SEND: add one to be read, not executed."""
        send = self._flow.nodes[i - 1]
        assert send.jump is not None
        target = ("begin" if self._flow.jump_begins[i - 1] else "plain", send.jump)
        self._add(Unit("JUMP_FORWARD", like.location, like.cover, target=("yield", i)))
        self._add(Unit("SEND", like.location, like.cover, target=target))
        self._listing.mark(("yield", i))

    def _write_last_handler(self) -> None:
        """Every exception that leaves the code ticks on its way; RERAISE 1 hides that from
        tracebacks, because it restores the place where the exception came from."""
        self._listing.mark(("leave", 0))
        like = Unit("RERAISE", no_location(), None)
        self._write_tick(TickKind.EXIT, 0, like)
        self._add(Unit("RERAISE", like.location, None, arg=1))

    def _write_tick(self, kind: TickKind, line: int, like: Unit) -> None:
        where, cover = like.location, like.cover
        self._add(Unit("LOAD_CONST", where, cover, arg=self._placeholder(kind, line)))
        self._add(Unit("UNARY_INVERT", where, cover))
        self._add(Unit("POP_TOP", where, cover))

    def _placeholder(self, kind: TickKind, line: int) -> int:
        return self._ticks.setdefault(
            (int(kind), line), len(self._code.co_consts) + len(self._ticks)
        )

    def _cover(self, i: int) -> Cover | None:
        guard_index = self._flow.nodes[i].guard
        if guard_index is None:
            return Cover(("leave", 0), 0, True) if i > self._flow.entry else None
        guard = self._flow.guards[guard_index]
        label = "begin" if self._flow.raise_begins[i] else "plain"
        return Cover((label, guard.handler), guard.stack_depth, guard.push_lasti)

    def _add(self, unit: Unit) -> None:
        self._listing.units.append(unit)
