"""Writes xplane files for tests with known numbers."""

import dataclasses
import struct
from pathlib import Path

Value = int | float | str | bytes
US = 1_000_000  # picoseconds


def varint(number: int) -> bytes:
    number %= 2**64
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, content: str | bytes) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(data)) + data


@dataclasses.dataclass(frozen=True)
class Ref:
    """A text that is stored among the names of statistics."""

    text: str


class PlaneWriter:
    def __init__(self, name: str) -> None:
        self._name = name
        self._names: dict[str, int] = {}
        self._keys: dict[str, int] = {}
        self._shared: dict[str, dict[str, Value | Ref]] = {}
        self._shown: dict[str, str] = {}
        self._lines: list[tuple[int, str, int, list[bytes]]] = []
        self._own: list[bytes] = []

    def line(self, id: int, name: str, at_ns: int = 0) -> "LineWriter":
        self._lines.append((id, name, at_ns, []))
        return LineWriter(self, self._lines[-1][3])

    def describe(self, event: str, shown: str = "", **stats: Value | Ref) -> None:
        """Statistics shared by all events of a name, and its display name."""
        self.name(event)
        self._shared[event] = stats
        self._shown[event] = shown

    def stat(self, **stats: Value | Ref) -> None:
        self._own += [self._stat(key, value) for key, value in stats.items()]

    def name(self, event: str) -> int:
        return self._names.setdefault(event, 7 * len(self._names) + 3)

    def key(self, name: str) -> int:
        return self._keys.setdefault(name, len(self._keys) + 1)

    def event(self, name: str, start_us: float, lasted_us: float, **stats: Value | Ref) -> bytes:
        content = number(1, self.name(name)) + number(2, round(start_us * US))
        content += number(3, round(lasted_us * US))
        return content + b"".join(text(4, self._stat(k, v)) for k, v in stats.items())

    def _stat(self, key: str, value: Value | Ref) -> bytes:
        key_field = number(1, self.key(key))
        if isinstance(value, Ref):
            return key_field + number(7, self.key(value.text))
        if isinstance(value, float):
            return key_field + varint(2 << 3 | 1) + struct.pack("<d", value)
        if isinstance(value, int):
            return key_field + number(4 if value < 0 else 3, value)
        return key_field + text(6 if isinstance(value, bytes) else 5, value)

    def written(self) -> bytes:
        """In the order of the fields, as protocol buffers do: names come last."""
        parts = [text(2, self._name)]
        for id, name, at_ns, events in self._lines:
            head = number(1, id) + text(2, name) + number(3, at_ns)
            parts.append(text(3, head + b"".join(text(4, event) for event in events)))
        for event, id in self._names.items():
            metadata = number(1, id) + text(2, event)
            metadata += text(4, self._shown[event]) if self._shown.get(event) else b""
            for key, value in self._shared.get(event, {}).items():
                metadata += text(5, self._stat(key, value))
            parts.append(text(4, number(1, id) + text(2, metadata)))
        own = [text(6, stat) for stat in self._own]
        for key, id in self._keys.items():
            parts.append(text(5, number(1, id) + text(2, number(1, id) + text(2, key))))
        return b"".join([*parts, *own])


@dataclasses.dataclass(frozen=True)
class LineWriter:
    plane: PlaneWriter
    events: list[bytes]

    def event(
        self, name: str, start_us: float, lasted_us: float, **stats: Value | Ref
    ) -> "LineWriter":
        self.events.append(self.plane.event(name, start_us, lasted_us, **stats))
        return self


def write(path: Path, *planes: PlaneWriter, start_ns: int | None = None) -> Path:
    if start_ns is not None:
        task = PlaneWriter("Task Environment")
        task.stat(profile_start_time=start_ns, profile_stop_time=start_ns + 10**9)
        planes = (*planes, task)
    hosts = text(4, "machine")
    path.write_bytes(b"".join(text(1, plane.written()) for plane in planes) + hosts)
    return path
