"""Events of torch's traces one by one, for those that the C core does not read: numbers as strings,
repaired events, other writers' files. The rows are the same."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.importers.kineto.rows import ROW_DTYPE, Rows, Scalar
from stepscope.importers.trace import Numbers

_NONE: Final = -1
_NOTHING: Final = msgspec.Raw()


# There are millions of them, and none is part of a cycle: the garbage collector can skip them.
class Args(msgspec.Struct, gc=False):
    """The arguments of an event that are used."""

    external: Scalar = msgspec.field(default=_NONE, name="External id")
    external_before: Scalar = msgspec.field(default=_NONE, name="external id")
    correlation: Scalar = _NONE
    sequence: Scalar = msgspec.field(default=_NONE, name="Sequence number")
    dims: msgspec.Raw = msgspec.field(default=_NOTHING, name="Input Dims")
    types: msgspec.Raw = msgspec.field(default=_NOTHING, name="Input type")
    concrete: msgspec.Raw = msgspec.field(default=_NOTHING, name="Concrete Inputs")
    bytes: Scalar = msgspec.field(default=0, name="Bytes")
    device_type: Scalar = msgspec.field(default=0, name="Device Type")
    address: Scalar = msgspec.field(default=0, name="Addr")
    stream: Scalar = _NONE
    device: Scalar = _NONE
    copied_bytes: Scalar = msgspec.field(default=0, name="bytes")
    name: Any = None


class Event(msgspec.Struct, gc=False):
    ph: str = ""
    name: str = ""
    cat: str | None = None
    pid: Scalar = None
    tid: Scalar = None
    ts: Scalar = None
    dur: Scalar = 0.0
    id: Scalar = _NONE
    args: Args | None = None


_NO_ARGS: Final = Args()
_NUMBERS: Final = (
    "correlation", "sequence", "stream", "device", "copied_bytes", "bytes", "device_type",
    "address",
)  # fmt: skip


def rows_of(events: Sequence[Event]) -> Rows:
    """The same rows as `rows.read_rows` makes from text."""
    texts: Numbers[bytes] = Numbers()
    args = [event.args or _NO_ARGS for event in events]
    both = list(zip(events, args, strict=True))
    rows = np.zeros(len(events), ROW_DTYPE)
    rows["phase"] = [_letter(each.ph) for each in events]
    rows["ts_us"] = [_time(each.ts) for each in events]
    rows["dur_us"] = _numbers([each.dur for each in events], np.float64, float)
    rows["id"] = _integers([each.id for each in events])
    for name in _NUMBERS:
        rows[name] = _integers([getattr(each, name) for each in args])
    external = _integers([each.external for each in args])
    before = _integers([each.external_before for each in args])
    rows["external"] = np.where(external >= 0, external, before)
    rows["name"] = [texts[_content(each.name)] for each in events]
    rows["category"] = [_NONE if each.cat is None else texts[_content(each.cat)] for each in events]
    rows["thread"] = [texts[msgspec.json.encode((e.pid, e.tid))[1:-1]] for e in events]
    rows["shapes"] = [texts[_shapes(e, a)] if e.ph == "X" else _NONE for e, a in both]
    rows["args_name"] = [
        texts[_content(a.name)] if e.ph == "M" and isinstance(a.name, str) else _NONE
        for e, a in both
    ]
    return Rows(rows, list(texts))


def _letter(text: str) -> int:
    return ord(text) if len(text) == 1 and text.isascii() and text.isalpha() else 0


def _content(text: str) -> bytes:
    """As it is written between the quotes in JSON."""
    return msgspec.json.encode(text)[1:-1]


def _shapes(event: Event, args: Args) -> bytes:
    concrete = bytes(args.concrete) if "conv" in event.name else b""
    return b"\0".join((bytes(args.dims), bytes(args.types), concrete))


def _time(value: Scalar) -> float:
    """Not a number if it is none: nobody knows when such an event was."""
    try:
        return float(value) if value is not None else math.nan
    except (ValueError, OverflowError):
        return math.nan


def _integers(values: list[Any]) -> npt.NDArray[Any]:
    return _numbers(values, np.int64, int)


def _numbers(values: list[Any], dtype: type, convert: Callable[[Any], Any]) -> npt.NDArray[Any]:
    try:
        return np.fromiter(values, dtype, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.fromiter((_number(value, convert) for value in values), dtype, len(values))


def _number(value: Any, convert: Callable[[Any], Any]) -> Any:
    try:
        number = convert(value)
        return number if abs(number) < 2**62 else 0
    except (TypeError, ValueError, OverflowError):
        return 0 if convert is float else _NONE
