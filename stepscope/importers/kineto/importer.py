"""Kineto's JSON as one of the formats."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stepscope.importers.collectives import Collective
from stepscope.importers.importer import Importer, register
from stepscope.importers.trace import Trace
from stepscope.importers.written_events import Written

_BEFORE: Final = b"\xef\xbb\xbf \r\n\t"


@register
class Kineto(Importer):
    label = "torch.profiler's JSON"
    endings = (".json", ".json.gz")

    def recognises(self, head: bytes) -> bool:
        return head.lstrip(_BEFORE).startswith((b"{", b"["))

    def read(self, path: Path) -> Trace:
        from stepscope.importers.kineto.reader import read_kineto

        return read_kineto(path)

    def collectives(self, path: Path) -> list[Collective]:
        from stepscope.importers.kineto.collectives import read_collectives

        return read_collectives(path)

    def written_events(self, trace: Trace) -> Iterator[Written]:
        from stepscope.importers.kineto.written import events_in

        return events_in(trace)
