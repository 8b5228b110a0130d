"""TensorFlow's and JAX's trace.json.gz as one of the formats."""

from pathlib import Path

from stepscope.importers.importer import Importer, register
from stepscope.importers.trace import Trace


@register
class TensorflowJson(Importer):
    label = "TensorFlow's or JAX's trace.json.gz"
    endings = (".trace.json.gz", ".trace.json", ".json.gz", ".json")

    def recognises(self, head: bytes) -> bool:
        return b'"/host:' in head or b'"/device:' in head

    def read(self, path: Path) -> Trace:
        from stepscope.importers.tensorflow_json.reader import read_tensorflow_json

        return read_tensorflow_json(path)
