"""Tracks as rows of the timeline: names and places as numbers, each text once."""

import dataclasses

import numpy as np

from stepscope.analyze.timeline.one_clock import Member
from stepscope.analyze.timeline.spans import NO_PLACE, Row, nested
from stepscope.analyze.timeline.tracks import Track
from stepscope.clock import Ints
from stepscope.model import Location
from stepscope.model.timeline import Kind


class Words:
    """Names and places of the timeline."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._places: dict[Location, int] = {}

    @property
    def names(self) -> list[str]:
        return list(self._names)

    @property
    def places(self) -> list[Location]:
        return list(self._places)

    def name(self, text: str) -> int:
        return self._names.setdefault(text, len(self._names))

    def place(self, location: Location | None) -> int:
        if location is None:
            return NO_PLACE
        return self._places.setdefault(location, len(self._places))


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """Makes the rows of one process, the `number`-th on the timeline."""

    member: Member
    number: int
    words: Words

    def row_of(self, track: Track) -> Row:
        names = np.array([self.words.name(each.name) for each in track.labels], np.int64)
        places = np.array([self.words.place(each.place) for each in track.labels], np.int64)
        spans = nested(
            track.start_ns, track.end_ns, names[track.label], places[track.label], track.level
        )
        return Row(self.number, track.thread, track.title, track.kind, spans)

    def row(
        self, thread: str, title: str, kind: Kind, start_ns: Ints, end_ns: Ints, name: Ints,
        place: Ints,
    ) -> Row:  # fmt: skip
        """From columns that are already numbers; times are on the process's own clock."""
        zero_ns = self.member.zero_ns
        spans = nested(start_ns - zero_ns, end_ns - zero_ns, name, place)
        return Row(self.number, thread, title, kind, spans)
