"""The rows of the operator windows: operators by thread, kernels by stream, launches."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from stepscope.analyze.operators.operators import Part, location_of, parts_of, place_of
from stepscope.analyze.timeline.rows import Source
from stepscope.analyze.timeline.spans import NO_PLACE, Row
from stepscope.clock import Ints
from stepscope.model.timeline import Kind


@dataclasses.dataclass(eq=False)
class _Together:
    """Rows of the same thread in several windows are one."""

    start: list[Ints] = dataclasses.field(default_factory=list)
    end: list[Ints] = dataclasses.field(default_factory=list)
    name: list[Ints] = dataclasses.field(default_factory=list)
    place: list[Ints] = dataclasses.field(default_factory=list)


class OperatorRows:
    """Of one process. Rows are numbered from `first` on, for the flows between them."""

    def __init__(self, source: Source, first: int) -> None:
        self._source = source
        self._found: dict[tuple[str, str], _Together] = {}  # (thread or device, title)
        self._first = first
        self.flows: list[Ints] = []  # n x 4: row and start, twice
        parts, _ = parts_of(source.member.process)
        for part in parts:
            self._add(part)

    def rows(self) -> Iterator[Row]:
        for (thread, title), each in self._found.items():
            columns = (each.start, each.end, each.name, each.place)
            start, end, name, place = (np.concatenate(column) for column in columns)
            kind: Kind = "operator" if title == "operators" else "device"
            yield self._source.row(thread, title, kind, start, end, name, place)

    def _add(self, part: Part) -> None:
        events = part.tree.events
        offset_ns = self._source.member.process.clock.monotonic_ns(0)
        places = self._places(part)
        host = self._threads(part, events, "operators", offset_ns, places)
        device, operator = part.tree.device, part.tree.launcher
        of_device = np.append(places, NO_PLACE)[operator]  # -1 is the last
        streams = self._threads(part, device, "kernels", offset_ns, of_device)
        self._add_flows(part, host, offset_ns)
        known = np.flatnonzero(operator >= 0)
        self._add_pairs(
            host[operator[known]], events["start_ns"][operator[known]] + offset_ns,
            streams[known], device["start_ns"][known] + offset_ns,
        )  # fmt: skip

    def _places(self, part: Part) -> Ints:
        """For each operator the number of its line, -1: none."""
        if not len(part.places.code):
            return np.zeros(0, np.int64)
        most = int(part.places.line.max()) + 1
        # One number for both: pairs would take forty times as long to sort.
        unique, where = np.unique(part.places.code * most + part.places.line, return_inverse=True)
        numbers = [self._place(part, *divmod(each, most)) for each in unique.tolist()]
        found: Ints = np.array(numbers, np.int64)[where.reshape(-1)]
        return found

    def _place(self, part: Part, code: int, line: int) -> int:
        if not code:
            return NO_PLACE
        member = self._source.member
        where = location_of(member.run, member.process, place_of(part, code, line))
        return self._source.words.place(where)

    def _threads(
        self, part: Part, events: "np.ndarray[tuple[int], np.dtype[np.void]]", title: str,
        offset_ns: int, places: Ints,
    ) -> Ints:  # fmt: skip
        """Adds the events to the rows of their threads; returns the row number of each event."""
        trace, words = part.tree.trace, self._source.words
        rows = np.zeros(len(events), np.int64)
        for thread in np.unique(events["thread"]).tolist():
            here = np.flatnonzero(events["thread"] == thread)
            key = self._thread_name(part, thread, title), title
            row = self._found.setdefault(key, _Together())
            rows[here] = self._first + list(self._found).index(key)
            start = events["start_ns"][here] + offset_ns
            row.start.append(start)
            row.end.append(start + events["duration_ns"][here])
            unique, where = np.unique(events["name"][here], return_inverse=True)
            names = np.array([words.name(trace.names[each]) for each in unique.tolist()])
            row.name.append(names[where.reshape(-1)])
            row.place.append(places[here])
        return rows

    def _thread_name(self, part: Part, thread: int, title: str) -> str:
        seen = part.tree.trace.threads[thread]
        if title == "kernels":
            device = seen.process.removeprefix("/device:")
            stream = seen.thread.removeprefix("stream ")
            return f"{f'device {device}' if device.isdecimal() else device}, stream {stream}"
        if known := self._source.member.thread_of_native(seen.thread):
            return known
        if not seen.name:
            return f"thread {seen.thread}"
        return seen.name if seen.thread in seen.name else f"{seen.name} {seen.thread}"

    def _add_flows(self, part: Part, rows: Ints, offset_ns: int) -> None:
        """From forward operators to their backward operators."""
        flows, events = part.tree.trace.flows, part.tree.events
        threads, at = np.unique(events["thread"], return_index=True)
        flows = flows[np.isin(flows["thread"], threads)]
        begins, ends = _last_of_each(flows[~flows["is_end"]]), _last_of_each(flows[flows["is_end"]])
        _, first, second = np.intersect1d(begins["id"], ends["id"], return_indices=True)
        begins, ends = begins[first], ends[second]
        row_of = rows[at]
        self._add_pairs(
            row_of[np.searchsorted(threads, begins["thread"])], begins["at_ns"] + offset_ns,
            row_of[np.searchsorted(threads, ends["thread"])], ends["at_ns"] + offset_ns,
        )  # fmt: skip

    def _add_pairs(self, rows: Ints, at_ns: Ints, others: Ints, to_ns: Ints) -> None:
        zero_ns = self._source.member.zero_ns
        self.flows.append(np.stack([rows, at_ns - zero_ns, others, to_ns - zero_ns], axis=1))


def _last_of_each(flows: "np.ndarray[tuple[int], np.dtype[np.void]]") -> "npt.NDArray[np.void]":
    """One per id: the last one counts."""
    _, last = np.unique(flows["id"][::-1], return_index=True)
    return flows[::-1][last]
