"""xplane files: what the profilers of TensorFlow and JAX write, whole, cut off or damaged.

The names of a plane's events come after the events: if a file is cut off, they are lost.
"""

import dataclasses
import functools
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.errors import DataError
from stepscope.importers.unzip import read_whole
from stepscope.importers.xplane import protobuf_wire as wire
from stepscope.importers.xplane.planes import (
    BYTES,
    DOUBLE,
    EVENT_DTYPE,
    LATEST,
    REFERENCE,
    SIGNED,
    TEXT,
    Line,
    Names,
    Plane,
    Stats,
    Value,
    XSpace,
)

_CHUNK: Final = 200_000  # events decoded at once: about 100 MB
_BASE: Final = "profile_start_time"
_TASK: Final = "Task Environment"
_LOST: Final = "?"  # for an event whose name is missing

# Field numbers, by message.
_PLANE: Final = 1  # XSpace
_HOSTNAME: Final = 4
_NAME: Final = 2  # XPlane, XLine, and the metadata of events and statistics
_LINE, _EVENT_NAMES, _STAT_NAMES, _PLANE_STATS = 3, 4, 5, 6
_LINE_ID, _LINE_TIME, _LINE_EVENTS, _LINE_SHOWN = 1, 3, 4, 11
_DISPLAY_NAME, _NAME_STATS = 4, 5
_EVENT_NAME, _OFFSET, _LASTED, _EVENT_STATS, _OCCURRENCES = 1, 2, 3, 4, 5


@functools.lru_cache(maxsize=4)
def read_xplane(path: Path) -> XSpace:
    """Everything, in columns: about 40 bytes per event and 30 per statistic."""
    data, is_cut_off = read_whole(path)
    whole = wire.split(data, 0, len(data))
    planes = [field for field in whole.fields if field.number == _PLANE and _is_text(field)]
    if not planes or not any(field.stop > field.start for field in planes):
        raise DataError(
            f"'{path}' is not a trace: it has no planes. Give a .xplane.pb file that "
            "TensorFlow's or JAX's profiler wrote."
        )
    reader = _Reader(data)
    base_ns = reader.base_ns(planes)
    read = [reader.plane(field, base_ns) for field in planes]
    found = [plane for plane in read if plane is not None]
    if not found:
        raise DataError(f"'{path}' is not a trace: it does not hold a profiler's planes.")
    hosts = [_decoded(data, f) for f in whole.fields if f.number == _HOSTNAME and _is_text(f)]
    reader.unread += whole.unread
    is_cut_off |= whole.is_cut
    return XSpace(path, found, hosts, reader.notes(path.name, is_cut_off=is_cut_off))


def _is_text(field: wire.Field) -> bool:
    return field.wire == wire.DELIMITED


def _decoded(data: bytes, field: wire.Field) -> str:
    return data[field.start : field.stop].decode("utf-8", "replace")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._bytes = np.frombuffer(data + bytes(wire.PADDING), np.uint8)
        self.unread = 0
        self._damaged = 0
        self._lost_names = 0

    def notes(self, name: str, *, is_cut_off: bool) -> list[str]:
        notes = []
        if is_cut_off:
            notes.append(f"{name} is cut off: what was written up to there is shown.")
        if self._lost_names:
            notes.append(f"{name}: the names of {self._lost_names:,} events are missing.")
        if self._damaged:
            what = "1 event is" if self._damaged == 1 else f"{self._damaged:,} events are"
            notes.append(f"{name}: {what} damaged and left out.")
        if self.unread and not is_cut_off:
            notes.append(f"{name}: {self.unread:,} bytes are damaged and left out.")
        return notes

    def base_ns(self, planes: list[wire.Field]) -> int:
        """The zero of the lines' times: the file may say that it was subtracted."""
        for field in planes:
            if field.stop - field.start > 2**20:
                continue
            message = wire.split(self._data, field.start, field.stop)
            if any(f.number == _NAME and _decoded(self._data, f) == _TASK for f in message.fields):
                base = self._plane_stats(message, self._names(message, _STAT_NAMES)).get(_BASE, 0)
                return base if isinstance(base, int) and 0 < base < LATEST else 0
        return 0

    def plane(self, field: wire.Field, base_ns: int) -> Plane | None:
        message = wire.split(self._data, field.start, field.stop)
        if not message.is_cut:
            self.unread += message.unread
        names = [f for f in message.fields if f.number == _NAME and _is_text(f)]
        if not names and not any(f.number == _LINE for f in message.fields):
            self.unread += field.stop - field.start
            return None
        keys, events = self._names(message, _STAT_NAMES), self._names(message, _EVENT_NAMES)
        key_names = dict(zip(keys.ids.tolist(), keys.names, strict=True))
        lines, table, stats = self._lines(message, events, base_ns)
        if len(table) and int(table["name"].max()) == len(events.ids):
            self._lost_names += int((table["name"] == len(events.ids)).sum())
        return Plane(
            name=_decoded(self._data, names[0]) if names else _LOST,
            lines=lines,
            events=table,
            names=[*events.names, _LOST],
            shown_names=[*events.shown, _LOST],
            stats=self._plane_stats(message, keys),
            _keys={name: id for id, name in key_names.items()},
            _key_names=key_names,
            _own=stats,
            _of_names=events.stats,
            _data=self._data,
        )

    # --- names ---------------------------------------------------------------------------------

    def _names(self, message: wire.Message, number: int) -> Names:
        entries = [f for f in message.fields if f.number == number and _is_text(f)]
        if message.is_cut and entries and entries[-1] is message.fields[-1]:
            entries.pop()
        starts = np.array([entry.start for entry in entries], np.int64)
        stops = np.array([entry.stop for entry in entries], np.int64)
        pairs, _ = wire.fields(self._bytes, starts, stops)
        ids = np.zeros(len(entries), np.int64)
        of_id = (pairs.number == 1) & (pairs.wire == wire.VARINT)
        ids[pairs.owner[of_id]] = pairs.value[of_id].astype(np.int64)
        is_value = (pairs.number == 2) & (pairs.wire == wire.DELIMITED)
        entry = pairs.owner[is_value]
        inner, _ = wire.fields(self._bytes, pairs.start[is_value], pairs.stop[is_value])
        names, shown = [_LOST] * len(entries), [""] * len(entries)
        self._put_texts(names, inner, _NAME, entry)
        if number == _EVENT_NAMES:
            self._put_texts(shown, inner, _DISPLAY_NAME, entry)
        order = np.argsort(ids, kind="stable")
        place = np.zeros(len(ids), np.int64)
        place[order] = np.arange(len(ids))
        is_stat = (inner.number == _NAME_STATS) & (inner.wire == wire.DELIMITED)
        is_stat &= number == _EVENT_NAMES
        owner = place[entry[inner.owner[is_stat]]]
        stats = self._stats(owner, inner.start[is_stat], inner.stop[is_stat])
        in_order = order.tolist()
        return Names(
            ids[order],
            [names[index] for index in in_order],
            [shown[index] or names[index] for index in in_order],
            stats,
        )

    def _put_texts(self, into: list[str], found: wire.Fields, number: int, entry: Ints) -> None:
        kept = (found.number == number) & (found.wire == wire.DELIMITED)
        columns = entry[found.owner[kept]], found.start[kept], found.stop[kept]
        for index, start, stop in zip(*(column.tolist() for column in columns), strict=True):
            into[index] = self._data[start:stop].decode("utf-8", "replace")

    # --- statistics ----------------------------------------------------------------------------

    def _stats(self, owner: Ints, start: Ints, stop: Ints) -> Stats:
        found, _ = wire.fields(self._bytes, start, stop)
        key = np.full(len(owner), -1, np.int64)
        is_key = (found.number == 1) & (found.wire == wire.VARINT)
        key[found.owner[is_key]] = found.value[is_key].astype(np.int64)
        is_value = (found.number >= DOUBLE) & (found.number <= REFERENCE)
        found = found.only(is_value)
        is_text = found.wire == wire.DELIMITED
        value = np.where(is_text, found.start.astype(np.uint64), found.value)
        kinds = np.where(is_text | ~np.isin(found.number, (TEXT, BYTES)), found.number, 0)
        kept = kinds > 0
        return Stats(owner[found.owner[kept]], key[found.owner[kept]], kinds[kept], value[kept],
                      found.stop[kept])  # fmt: skip

    def _plane_stats(self, message: wire.Message, keys: Names) -> dict[str, Value]:
        found = [f for f in message.fields if f.number == _PLANE_STATS and _is_text(f)]
        stats = self._stats(
            np.arange(len(found)),
            np.array([f.start for f in found], np.int64),
            np.array([f.stop for f in found], np.int64),
        )
        key_names = dict(zip(keys.ids.tolist(), keys.names, strict=True))
        values: dict[str, Value] = {}
        columns = stats.key.tolist(), stats.kind.tolist(), stats.value.tolist(), stats.stop.tolist()
        for key, kind, value, stop in zip(*columns, strict=True):
            values[key_names.get(key, _LOST)] = self._value(kind, value, stop, key_names)
        return values

    def _value(self, kind: int, value: int, stop: int, names: dict[int, str]) -> Value:
        if kind in (TEXT, BYTES):
            return self._data[value:stop].decode("utf-8", "replace")
        if kind == DOUBLE:
            return wire.double(value)
        if kind == REFERENCE:
            return names.get(value, "")
        return wire.signed(value) if kind == SIGNED else value

    # --- events --------------------------------------------------------------------------------

    def _lines(
        self, message: wire.Message, names: Names, base_ns: int
    ) -> tuple[list[Line], npt.NDArray[Any], Stats]:
        lines: list[Line] = []
        tables: list[npt.NDArray[Any]] = []
        stats: list[Stats] = []
        count = 0
        for field in message.fields:
            if field.number != _LINE or not _is_text(field):
                continue
            found = wire.messages_of(self._data, field.start, field.stop, _LINE_EVENTS)
            self.unread += found.unread
            fields = {f.number: f for f in found.others}
            lines.append(self._line(fields))
            at_ns = wire.signed(fields[_LINE_TIME].value) if _LINE_TIME in fields else 0
            at_ns += base_ns if at_ns < base_ns else 0
            for begin in range(0, len(found.start), _CHUNK):
                chunk = slice(begin, begin + _CHUNK)
                table, own = self._events(found.start[chunk], found.stop[chunk], names, at_ns)
                table["line"] = len(lines) - 1
                stats.append(dataclasses.replace(own, owner=own.owner + count))
                tables.append(table)
                count += len(table)
        joined = np.concatenate(tables) if tables else np.zeros(0, EVENT_DTYPE)
        return lines, joined, _joined(stats)

    def _line(self, fields: dict[int, wire.Field]) -> Line:
        shown = fields.get(_LINE_SHOWN) or fields.get(_NAME)
        id = wire.signed(fields[_LINE_ID].value) if _LINE_ID in fields else 0
        return Line(id, _decoded(self._data, shown) if shown is not None else "")

    def _events(
        self, start: Ints, stop: Ints, names: Names, at_ns: int
    ) -> tuple[npt.NDArray[Any], Stats]:
        """Without damaged events and events without a time of their own."""
        found, damaged = wire.fields(self._bytes, start, stop)
        columns = {number: np.zeros(len(start), np.int64) for number in (1, _OFFSET, _LASTED)}
        for number, column in columns.items():
            mine = (found.number == number) & (found.wire == wire.VARINT)
            column[found.owner[mine]] = found.value[mine].astype(np.int64)
        offset, lasted = columns[_OFFSET], columns[_LASTED]
        sane = (np.abs(offset) < LATEST) & (lasted >= 0) & (lasted < LATEST)
        sane &= abs(at_ns) < LATEST
        self._damaged += int((damaged | ~sane).sum())
        counted = np.zeros(len(start), np.bool_)
        counted[found.owner[found.number == _OCCURRENCES]] = True
        kept = ~damaged & sane & ~counted
        table = np.zeros(int(kept.sum()), EVENT_DTYPE)
        table["name"] = names.index(columns[_EVENT_NAME][kept])
        table["start_ns"] = at_ns + offset[kept] // 1000
        table["duration_ns"] = (offset[kept] + lasted[kept]) // 1000 - offset[kept] // 1000
        place = np.cumsum(kept) - 1
        is_stat = (found.number == _EVENT_STATS) & (found.wire == wire.DELIMITED)
        is_stat &= kept[found.owner]
        stats = self._stats(place[found.owner[is_stat]], found.start[is_stat], found.stop[is_stat])
        return table, stats


def _joined(parts: list[Stats]) -> Stats:
    none = np.zeros(0, np.int64)
    parts = [*parts, Stats(none, none, none, none.astype(np.uint64), none)]
    columns = (
        np.concatenate([getattr(each, name.name) for each in parts])
        for name in dataclasses.fields(Stats)
    )
    return Stats(*columns)
