"""Chrome's trace format, event by event: what Perfetto, chrome://tracing and TensorBoard read."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

Event = dict[str, Any]

_CHUNK_BYTES: Final = 2**20


def document(head: dict[str, Any], base_ns: int, events: Iterable[Event]) -> Iterator[bytes]:
    """The file in pieces; times in it are microseconds since `base_ns`, in Unix time."""
    whole_head = {**head, "displayTimeUnit": "ms", "baseTimeNanoseconds": base_ns}
    piece = bytearray(msgspec.json.encode(whole_head)[:-1] + b',"traceEvents":[\n')
    separator = b""
    for event in events:
        piece += separator + msgspec.json.encode(event)
        separator = b",\n"
        if len(piece) >= _CHUNK_BYTES:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece) + b"\n]}\n"


def us(ns: int) -> msgspec.Raw:
    """Microseconds with all three decimals: a float would round times of long runs."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    return msgspec.Raw(f"{sign}{ns // 1000}.{ns % 1000:03}".encode())


def text(name: str) -> str:
    """Lone surrogates of a path, which UTF-8 cannot hold, are written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode()


def complete(
    name: str, category: str, pid: int, tid: int, start_ns: int, duration_ns: int, args: Event
) -> Event:
    return {
        "ph": "X", "name": text(name), "cat": category, "pid": pid, "tid": tid,
        "ts": us(start_ns), "dur": us(duration_ns), "args": args,
    }  # fmt: skip


def counter(name: str, pid: int, at_ns: int, values: Event) -> Event:
    return {"ph": "C", "name": text(name), "pid": pid, "tid": 0, "ts": us(at_ns), "args": values}


def process_named(pid: int, name: str, order: int) -> list[Event]:
    return _named("process", pid, 0, name, order)


def thread_named(pid: int, tid: int, name: str, order: int) -> list[Event]:
    return _named("thread", pid, tid, name, order)


def _named(what: str, pid: int, tid: int, name: str, order: int) -> list[Event]:
    at = {"ph": "M", "pid": pid, "tid": tid, "ts": 0}
    return [
        {**at, "name": f"{what}_name", "args": {"name": text(name)}},
        {**at, "name": f"{what}_sort_index", "args": {"sort_index": order}},
    ]


class Lanes:
    """Rows in which everything nests: a partial overlap goes to the next row."""

    def __init__(self) -> None:
        self._ends: list[list[int]] = []  # of the open intervals in each lane, the innermost last

    def place(self, start_ns: int, end_ns: int) -> int:
        """The lane of the next interval; they must come sorted by start, longer ones first."""
        for lane, ends in enumerate(self._ends):
            while ends and ends[-1] <= start_ns:
                ends.pop()
            if not ends or end_ns <= ends[-1]:
                ends.append(end_ns)
                return lane
        self._ends.append([end_ns])
        return len(self._ends) - 1
