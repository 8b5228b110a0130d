"""Kineto's JSON as one of the formats."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from stepscope.importers.collectives import Collective
from stepscope.importers.importer import Importer, register
from stepscope.importers.trace import Trace
from stepscope.importers.written_events import Written

_BEFORE: Final = b"\xef\xbb\xbf \r\n\t"
_OPENING: Final = re.compile(rb'\{\s*["}]|\[\s*[\]{]|[{\[]\s*$')


@register
class Kineto(Importer):
    label = "torch.profiler's JSON"
    endings = (".json", ".json.gz", ".json.zip", ".zip")
    is_general = True

    def recognises(self, head: bytes) -> bool:
        return _OPENING.match(head.lstrip(_BEFORE)) is not None

    def read(self, path: Path) -> Trace:
        from stepscope.importers.kineto.reader import read_kineto

        return read_kineto(path)

    def calls(self, path: Path) -> Mapping[int, int]:
        from stepscope.importers.kineto.records import records_of

        return records_of(path)

    def collectives(self, path: Path) -> list[Collective]:
        from stepscope.importers.kineto.collectives import read_collectives

        return read_collectives(path)

    def written_events(self, trace: Trace) -> Iterator[Written]:
        from stepscope.importers.kineto.written import events_in

        return events_in(trace)
