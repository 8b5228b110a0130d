"""xplane files as one of the formats."""

import re
from pathlib import Path
from typing import Final

from stepscope.importers.causes import Causes
from stepscope.importers.importer import Importer, register
from stepscope.importers.trace import Trace
from stepscope.importers.unzip import read_whole

# The first field is a plane: its length, then its number or its name.
_PLANE: Final = re.compile(rb"\x0a[\x80-\xff]{0,8}[\x00-\x7f][\x08\x12]", re.DOTALL)


@register
class Xplane(Importer):
    label = "the xplane of TensorFlow's or JAX's profiler"
    endings = (".xplane.pb", ".xplane.pb.gz")

    def recognises(self, head: bytes) -> bool:
        return _PLANE.match(head) is not None

    def read(self, path: Path) -> Trace:
        from stepscope.importers.xplane.trace import read_xplane_trace

        return read_xplane_trace(path)

    def causes(self, path: Path) -> Causes | None:
        from stepscope.importers.xplane.groups import causes_of
        from stepscope.importers.xplane.reader import read_xplane

        return causes_of(read_xplane(path))

    def profile(self, path: Path) -> bytes | None:
        return read_whole(path)[0]
