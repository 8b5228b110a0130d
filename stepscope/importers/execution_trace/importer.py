"""An Execution Trace is no trace by itself: it lends its shapes to the Kineto trace beside it."""

import re
from pathlib import Path
from typing import Final

from stepscope.errors import NotATrace
from stepscope.importers.importer import Importer, register
from stepscope.importers.trace import LentShapes, Trace

_OPENING: Final = re.compile(rb'\s*\{\s*"schema"\s*:\s*"\d')
_ALONE: Final = (
    "'{path}' is an Execution Trace of torch: it has operators, their shapes and what depends on "
    "what, but not when anything ran, so no view has something to show of it alone. Put it beside "
    "the trace that torch.profiler's export_chrome_trace wrote of the same steps, and show that "
    "one: the operators get their shapes from here."
)


@register
class ExecutionTrace(Importer):
    label = "torch's Execution Traces, beside their profiler's JSON"
    endings = (".json", ".json.gz")
    is_beside = True

    def recognises(self, head: bytes) -> bool:
        return _OPENING.match(head) is not None

    def read(self, path: Path) -> Trace:
        raise NotATrace(_ALONE.format(path=path))

    def lent_shapes(self, path: Path) -> LentShapes:
        from stepscope.importers.execution_trace.nodes import read_operators

        return read_operators(path)
