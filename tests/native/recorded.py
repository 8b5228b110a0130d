"""What the core has written into its files so far."""

from pathlib import Path
from typing import Any, NamedTuple

from stepscope.store import format as fmt


class Span(NamedTuple):
    name: int
    category: int
    start: int
    end: int
    value0: int
    value1: int

    @property
    def has_ended(self) -> bool:
        return self.end >= self.start


def events(folder: Path) -> list[tuple[Any, ...]]:
    data = (folder / fmt.EVENTS_FILE).read_bytes()
    used = fmt.HEADER.unpack_from(data)[4]
    return list(fmt.EVENT.iter_unpack(data[fmt.HEADER.size : used]))


def spans(folder: Path) -> list[Span]:
    return [
        Span(name, category, start, end, value0, value1)
        for tag, name, start, end, _thread, category, value0, value1 in events(folder)
        if tag & 0xFF == fmt.EventKind.SPAN
    ]
