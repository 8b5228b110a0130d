"""Reads a trace with what is beside it: files that add shapes to one that was recorded without.

1. Only operators without shapes get some, and only if there is such a file in the folder.
2. Both files number each call of an operator (rf_id, `Record function id`). Numbers begin anew in
   each process: an operator gets a shape only if its name is the same in both.
3. Of several such files, that with the most operators in common is taken.
"""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.errors import DataError
from stepscope.importers.importer import endings, importer_of, is_beside
from stepscope.importers.trace import Category, LentShapes, NamedShapes, Numbers, Shapes, Trace

_Indices = npt.NDArray[np.intp]


def read_file(path: Path) -> Trace:
    importer = importer_of(path)
    trace = importer.read(path)
    missing = _without_shapes(trace)
    paths = files_beside(path) if len(missing) else []
    return _filled(trace, missing, importer.calls(path), paths) if paths else trace


def files_beside(path: Path) -> list[Path]:
    """Those in its folder that add to traces."""
    try:
        changed = path.parent.stat().st_mtime_ns
    except OSError:
        return []
    return [each for each in _in_folder(path.parent, changed) if each != path]


@functools.lru_cache(maxsize=16)
def _in_folder(folder: Path, _changed: int) -> Sequence[Path]:
    named = (path for path in sorted(folder.iterdir()) if path.name.endswith(endings()))
    return [path for path in named if path.is_file() and is_beside(path)]


def _without_shapes(trace: Trace) -> _Indices:
    has_none = np.array([not each.dims for each in trace.shapes] or [False], np.bool_)
    is_one = trace.is_of(Category.OP) & (trace.events["shapes"] >= 0)
    return np.flatnonzero(is_one & has_none[trace.events["shapes"]])


def _filled(
    trace: Trace, missing: _Indices, calls: Mapping[int, int], paths: Sequence[Path]
) -> Trace:
    """`calls`: the number of the call by the event's external id."""
    best: dict[int, Shapes] = {}
    notes = list(trace.notes)
    said = []
    for path in paths:
        try:
            found = _matched(trace, missing, calls, _lent(path))
        except DataError as error:
            notes.append(str(error))
            continue
        if len(found) > len(best):
            best, said = found, [f"{len(found):,} operators have their shapes from {path.name}."]
    filled = _with_shapes(trace, best) if best else trace
    filled.notes = [*notes, *said]
    return filled


def _lent(path: Path) -> LentShapes:
    return importer_of(path).lent_shapes(path)


def _matched(
    trace: Trace, missing: _Indices, calls: Mapping[int, int], lent: LentShapes
) -> dict[int, Shapes]:
    external, name = (trace.events[column][missing].tolist() for column in ("external", "name"))
    found = {}
    for event, id, number in zip(missing.tolist(), external, name, strict=True):
        given: NamedShapes | None = lent.by_call.get(calls.get(id, -1))
        if given is not None and given.name == trace.names[number]:
            found[event] = given.shapes
    return found


def _with_shapes(trace: Trace, found: Mapping[int, Shapes]) -> Trace:
    numbers: Numbers[Shapes] = Numbers({each: number for number, each in enumerate(trace.shapes)})
    column: npt.NDArray[Any] = trace.events["shapes"].copy()
    for event, shapes in found.items():
        column[event] = numbers[shapes]
    filled = trace.with_columns(shapes=column)
    filled.shapes = list(numbers)
    return filled
