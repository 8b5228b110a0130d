"""Events of a JSON trace as rows of numbers, with the texts that the numbers refer to."""

from collections.abc import Callable
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.native import _core

Scalar = int | float | str | None

# The same as TraceRow in native/traces/trace_events.h, which explains the fields.
ROW_DTYPE: Final = np.dtype(
    [
        ("ts_us", np.float64),
        ("dur_us", np.float64),
        ("external", np.int64),
        ("correlation", np.int64),
        ("sequence", np.int64),
        ("stream", np.int64),
        ("device", np.int64),
        ("copied_bytes", np.int64),
        ("bytes", np.int64),
        ("device_type", np.int64),
        ("address", np.int64),
        ("id", np.int64),
        ("name", np.int32),
        ("category", np.int32),
        ("thread", np.int32),
        ("shapes", np.int32),
        ("args_name", np.int32),
        ("phase", np.uint8),
        ("unused", np.uint8, 3),
    ]
)
_NONE: Final = -1


class Rows:
    """Some events, in the order of the text."""

    def __init__(self, rows: npt.NDArray[Any], texts: list[bytes]) -> None:
        self._rows, self._texts = rows, texts
        self._phases = rows["phase"].copy()

    def __len__(self) -> int:
        return len(self._rows)

    def of(self, *phases: str) -> npt.NDArray[Any]:
        wanted = np.zeros(256, np.bool_)
        wanted[[ord(phase) for phase in phases]] = True
        found = np.flatnonzero(wanted[self._phases])
        kept: npt.NDArray[Any] = self._rows[found] if len(found) < len(self) else self._rows
        return kept

    def text(self, number: int) -> bytes:
        return self._texts[number]

    def is_one_of(self, column: Ints, *texts: bytes) -> npt.NDArray[np.bool_]:
        wanted = [number for number, text in enumerate(self._texts) if text in texts]
        return np.isin(column, wanted)

    def numbered(self, column: Ints, number: Callable[[bytes], int]) -> Ints:
        """The column with `number(text)` for each text, called once per text in order of
        appearance; -1 stays."""
        first = np.full(len(self._texts), len(column), np.int64)
        known = np.flatnonzero(column >= 0)[::-1]
        first[column[known]] = known  # numpy keeps the last write: here, the first in the column
        come = int((first < len(column)).sum())
        numbers = np.full(len(self._texts) + 1, _NONE, np.int64)
        for each in np.argsort(first, kind="stable")[:come].tolist():
            numbers[each] = number(self._texts[each])
        return numbers[column]


def read_rows(text: bytes) -> tuple[Rows, int]:
    """As many events from the beginning of the text as the C core can read, and where they end."""
    rows, texts, end = _core.trace_events(text)
    return Rows(np.frombuffer(rows, ROW_DTYPE), texts), end


def string_of(raw: bytes) -> str:
    """The text of a JSON string; damaged parts are replaced."""
    plain = raw.decode("utf-8", "replace")
    if "\\" not in plain:
        return plain
    try:
        return msgspec.json.decode(f'"{plain}"', type=str)
    except msgspec.DecodeError:
        return plain


def thread_of(raw: bytes) -> tuple[Scalar, Scalar]:
    """Process and thread."""
    plain = raw.decode("utf-8", "replace")
    try:
        return msgspec.json.decode(f"[{plain}]", type=tuple[Scalar, Scalar])
    except msgspec.DecodeError:
        return None, plain


def shapes_of(raw: bytes) -> tuple[bytes, bytes, bytes]:
    """Dims, types and concrete inputs."""
    dims, types, concrete = raw.split(b"\0")
    return dims, types, concrete
