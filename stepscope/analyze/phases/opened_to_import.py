"""Which files are none of the script's data: those that imports open, and those of our own windows.

Opened in order to import:

1. Files that say what a package is: entry points and other metadata, Python's own zip file; and
   byte code while it is being written.
2. Files opened during an import by an activation that was there before it, or by a line that is
   itself an import. What a module of the user's own opens while it is imported is not meant.
"""

import re
from typing import Final

import numpy as np

from stepscope.analyze.intervals import union
from stepscope.analyze.steps.loops import Mask
from stepscope.clock import Ints
from stepscope.store.events import Opens
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData
from stepscope.store.records import OpenName

_METADATA: Final = re.compile(
    r"\.(dist-info|egg-info)(/|$)|/python\d+\.zip$|\.pyc\.\d+$|__autograph_generated_file"
)
_IMPORT_LINE: Final = re.compile(r"\s*(import|from)\s")


def opened_by_the_script(process: ProcessData) -> Opens:
    """Without what a framework's profiler opens while it works for us."""
    opens = process.opens
    ours = np.zeros(len(opens), bool)
    own_work = process.spans.of(SpanCategory.PROFILER)
    for thread in np.unique(opens.thread).tolist():
        mine = np.flatnonzero(opens.thread == thread)
        stretches = union(*own_work.on(thread).interval_ns)
        ours[mine] = _inside(opens.opened_at_ns[mine], *stretches)[0]
    return opens[~ours]


def is_importing(process: ProcessData, opens: Opens) -> Mask:
    """One per opened file."""
    names = process.names.opens
    metadata = [id for id, name in names.items() if _METADATA.search(name.path)]
    in_import, began_before = _in_imports(process, opens)
    by_a_line = [id for id, name in names.items() if _opens_by_import(process, name)]
    own = began_before | np.isin(opens.name, by_a_line)
    mask: Mask = np.isin(opens.name, metadata) | (in_import & own)
    return mask


def _in_imports(process: ProcessData, opens: Opens) -> tuple[Mask, Mask]:
    """Opened during an import; and by an activation that began before that import."""
    in_import = np.zeros(len(opens), bool)
    began_before = np.zeros(len(opens), bool)
    imports = process.spans.of(SpanCategory.IMPORT)
    start_ns, _ = opens.interval_ns
    for thread in np.unique(opens.thread).tolist():
        mine = np.flatnonzero(opens.thread == thread)
        begun, ended = union(*imports.on(thread).interval_ns)
        inside, since = _inside(opens.opened_at_ns[mine], begun, ended)
        in_import[mine] = inside
        began_before[mine] = start_ns[mine] <= since
    return in_import, began_before


def _inside(at_ns: Ints, begun: Ints, ended: Ints) -> tuple[Mask, Ints]:
    """Whether each moment lies in a stretch, and since when that one runs."""
    if not len(begun):
        return np.zeros(len(at_ns), bool), np.zeros(len(at_ns), np.int64)
    index = np.searchsorted(begun, at_ns, side="right") - 1
    here = np.maximum(index, 0)
    inside: Mask = (index >= 0) & (at_ns < ended[here])
    return inside, begun[here]


def _opens_by_import(process: ProcessData, name: OpenName) -> bool:
    """Its line is an import statement, or goes on with one."""
    known = process.names.code_and_file(name.code)
    lines = process.source_lines(known[1].source) if known is not None else None
    if not lines or name.line is None or name.line > len(lines):
        return False
    return bool(_IMPORT_LINE.match(lines[name.line - 1]))
