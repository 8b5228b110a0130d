"""VizTracer's JSON as one of the formats: its calls are Python's, and it has no operators."""

from pathlib import Path

from stepscope.importers.importer import Importer, register
from stepscope.importers.trace import Trace


@register
class VizTracer(Importer):
    label = "VizTracer's JSON"
    endings = (".json", ".json.gz")

    def recognises(self, head: bytes) -> bool:
        """The categories of its events: function entry and exit."""
        return b'"FEE"' in head or b'"fee"' in head or b"viztracer" in head

    def read(self, path: Path) -> Trace:
        from stepscope.importers.kineto.reader import read_kineto

        trace = read_kineto(path)
        trace.framework = None
        return trace
