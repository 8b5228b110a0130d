"""The programs that XLA compiled, as far as a trace has them: what each instruction is made of.

A fusion is named after the matrix product or convolution in it, else after its last instruction,
and gets the line of the same instruction.
"""

import dataclasses
from collections.abc import Iterator
from typing import Final

from stepscope.importers.trace import Source, Stack
from stepscope.importers.xplane import protobuf_wire as wire
from stepscope.importers.xplane.planes import XSpace

_KEYS: Final = ("hlo_proto", "Hlo Proto")
_MOST_FRAMES: Final = 64
_FUSION: Final = "fusion"
# What a fusion spends its time on, and JAX's name for it.
_HEAVY: Final = {"dot": "dot_general", "convolution": "conv_general_dilated"}

# Field numbers, by message.
_MODULE: Final = 1
_NAME: Final = 1
_COMPUTATIONS, _STACK_FRAMES = 3, 17  # of a module
_INSTRUCTIONS, _COMPUTATION_ID = 2, 5  # of a computation
_OPCODE, _METADATA, _CALLED = 2, 7, 38  # of an instruction
_OP_TYPE, _OP_NAME, _FILE, _LINE, _FRAME = 1, 2, 3, 4, 15


@dataclasses.dataclass(frozen=True)
class Made:
    """The framework's operation (jit(step)/dot_general, dense/MatMul:MatMul) that made it, and its
    lines."""

    operation: str
    stack: Stack


Programs = dict[tuple[str, str], Made]  # by module and instruction


def programs(space: XSpace) -> Programs:
    found: Programs = {}
    for plane in space.planes:
        for key in _KEYS:
            for data in plane.blobs(key).values():
                found.update(_instructions(data))
    return found


def _instructions(data: bytes) -> Iterator[tuple[tuple[str, str], Made]]:
    module = _inner(data, 0, len(data), _MODULE)
    if module is None:
        return
    fields = wire.split(data, module.start, module.stop).fields
    name = _text(data, fields, _NAME)
    frames = _Frames(data, next((f for f in fields if f.number == _STACK_FRAMES), None))
    heavy: dict[int, Made] = {}  # by computation
    found: list[tuple[list[wire.Field], Made | None]] = []
    for computation in fields:
        if computation.number != _COMPUTATIONS or computation.wire != wire.DELIMITED:
            continue
        parts = wire.split(data, computation.start, computation.stop).fields
        for each in parts:
            if each.number == _INSTRUCTIONS and each.wire == wire.DELIMITED:
                inner = wire.split(data, each.start, each.stop).fields
                made = _made(data, inner, frames)
                found.append((inner, made))
                if made is not None and _text(data, inner, _OPCODE) in _HEAVY:
                    heavy.setdefault(_number(parts, _COMPUTATION_ID), made)
    for inner, made in found:
        origin = heavy.get(_called(data, inner)) or made
        if origin is not None:
            yield (name, _text(data, inner, _NAME)), origin


def _called(data: bytes, fields: list[wire.Field]) -> int:
    """The computation that a fusion is made of; 0: not a fusion."""
    if _text(data, fields, _OPCODE) != _FUSION:
        return 0
    for field in fields:
        if field.number == _CALLED and field.wire == wire.DELIMITED:
            return wire.first_number(data, field)
    return _number(fields, _CALLED)


def _made(data: bytes, fields: list[wire.Field], frames: "_Frames") -> Made | None:
    metadata = next((f for f in fields if f.number == _METADATA), None)
    if metadata is None or metadata.wire != wire.DELIMITED:
        return None
    about = wire.split(data, metadata.start, metadata.stop).fields
    file, line = _text(data, about, _FILE), _number(about, _LINE)
    stack = frames.stack(_number(about, _FRAME))
    if not stack and file and line:
        stack = (Source(file, line),)
    name, kind = _text(data, about, _OP_NAME), _text(data, about, _OP_TYPE)
    # A product must not be named after a transpose that XLA merged into it.
    kind = kind or _HEAVY.get(_text(data, fields, _OPCODE), "")
    return Made(f"{name}:{kind}" if kind else name, stack)


class _Frames:
    """Newer programs store files and lines once and refer to them, with numbers from 1."""

    def __init__(self, data: bytes, field: wire.Field | None) -> None:
        self._files: list[str] = []
        self._locations: list[tuple[int, int]] = []  # file, line
        self._frames: list[tuple[int, int]] = []  # location, the frame around it
        if field is None or field.wire != wire.DELIMITED:
            return
        for each in wire.split(data, field.start, field.stop).fields:
            if each.wire != wire.DELIMITED:
                continue
            if each.number == 1:
                self._files.append(data[each.start : each.stop].decode("utf-8", "replace"))
            elif each.number in (3, 4):
                inner = wire.split(data, each.start, each.stop).fields
                if each.number == 3:
                    self._locations.append((_number(inner, 1), _number(inner, 3)))
                else:
                    self._frames.append((_number(inner, 1), _number(inner, 2)))

    def stack(self, frame: int) -> Stack:
        found: list[Source] = []
        for _ in range(_MOST_FRAMES):  # damaged ones may be cyclic
            if not 0 < frame <= len(self._frames):
                break
            location, frame = self._frames[frame - 1]
            if 0 < location <= len(self._locations):
                file, line = self._locations[location - 1]
                if 0 < file <= len(self._files):
                    found.append(Source(self._files[file - 1], line))
        return tuple(found)


def _inner(data: bytes, start: int, stop: int, number: int) -> wire.Field | None:
    found = wire.split(data, start, stop).fields
    return next((f for f in found if f.number == number and f.wire == wire.DELIMITED), None)


def _text(data: bytes, fields: list[wire.Field], number: int) -> str:
    for field in fields:
        if field.number == number and field.wire == wire.DELIMITED:
            return data[field.start : field.stop].decode("utf-8", "replace")
    return ""


def _number(fields: list[wire.Field], number: int) -> int:
    return next((f.value for f in fields if f.number == number and f.wire == wire.VARINT), 0)
