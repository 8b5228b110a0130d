"""Files that were opened: when, in which step, and what that cost.

The cost of a file is the inclusive time of the activation that opened it. If that activation
says nothing about it (a module, one that still ran, one around whole steps, one that trains, one
that writes a log on the side), it is the mean time of the lines that open the file and read from
it or write to it.
"""

import dataclasses
import functools
import os
import re
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze import intervals
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.analyze.phases.opened_to_import import is_importing, opened_by_the_script
from stepscope.analyze.phases.span_table import OF_FRAMEWORKS, Spans, owner_at
from stepscope.analyze.source_text import Text, header_lines, lines_using, parsed
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.analyze.steps.loops import Mask
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData
from stepscope.store.records import CodeName, OpenName

# Of the time of a function in a pass: if its lines that load take as much, it is there to load. If
# they take less, the rest may be the pass itself.
_ABOUT_LOADING: Final = 0.8
_TEXTS: Final = re.compile(r"\.(csv|tsv|txt|log|jsonl?|out)(\.\w+)?$", re.I)
_STATES: Final = re.compile(r"checkpoint|ckpt|snapshot|weights|params", re.I)


@dataclasses.dataclass(frozen=True, eq=False)
class Opens:
    """One entry per opened file."""

    name: npt.NDArray[np.int64]
    thread: npt.NDArray[np.int64]
    at_ns: Ints
    start_ns: Ints  # of the activation
    end_ns: Ints
    is_writing: Mask
    step: npt.NDArray[np.intp]  # in which it was opened, -1: outside all steps
    is_whole: Mask  # the activation is the cost; otherwise the mean of the lines
    line_ns: Ints
    is_importing: Mask  # opened in order to import: no data of the script's


@functools.lru_cache(maxsize=64)
def read_opens(process: ProcessData, steps: FoundSteps) -> Opens:
    found = opened_by_the_script(process)
    start, end = found.interval_ns
    at_ns, writing = found.opened_at_ns, found.is_writing
    step = intervals.step_of(at_ns, steps.start_ns, steps.end_ns)
    around_steps = _steps_begun(end, steps) > _steps_begun(start, steps)
    modules = _of_modules(process, found.name)
    usual = float(np.median(steps.duration_ns)) if len(steps) else np.inf
    lines = {id: _lines_of(process, name) for id, name in process.names.opens.items()}
    is_about_it = np.isin(found.name, [id for id, each in lines.items() if each.is_about_it])
    on_the_side = writing & (step >= 0) & (end - start > usual / 2) & ~is_about_it
    trains = _trains(phase_spans(process, steps), start, end, is_about_it)
    return Opens(
        name=found.name.astype(np.int64),
        thread=found.thread.astype(np.int64),
        at_ns=at_ns,
        start_ns=start,
        end_ns=end,
        is_writing=writing,
        step=step,
        is_whole=found.has_ended & ~around_steps & ~modules & ~on_the_side & ~trains,
        line_ns=np.array([_cost(lines, id) for id in found.name.tolist()], np.int64),
        is_importing=is_importing(process, found),
    )


def is_log(path: str) -> bool:
    """A text file, unless its name says that it keeps the model: checkpoint.json."""
    name = os.path.basename(path)
    return bool(_TEXTS.search(name)) and not _STATES.search(name)


def _trains(spans: Spans, start_ns: Ints, end_ns: Ints, is_about_it: Mask) -> Mask:
    """Activations with a pass or a batch in them, or inside one and with more to do."""
    passes = spans.of(*OF_FRAMEWORKS, SpanCategory.INPUT) & (spans.name > 0)
    begun = np.searchsorted(spans.start_ns[passes], end_ns) - np.searchsorted(
        spans.start_ns[passes], start_ns
    )
    in_a_pass = np.isin(owner_at(spans, start_ns), OF_FRAMEWORKS)
    mask: Mask = (begun > 0) | (in_a_pass & ~is_about_it)
    return mask


def _steps_begun(at_ns: Ints, steps: FoundSteps) -> npt.NDArray[np.intp]:
    return np.searchsorted(steps.start_ns, at_ns, side="right")


def _of_modules(process: ProcessData, names: npt.NDArray[np.uint32]) -> Mask:
    """Opened by a module's own code, or not by the user's code at all."""
    codes = process.names.codes
    opened_by = {
        name.id: codes.get(name.code) if name.code is not None else None
        for name in process.names.opens.values()
    }
    modules = [id for id, code in opened_by.items() if code is None or code.kind == "module"]
    return np.isin(names, modules) | ~np.isin(names, list(opened_by))


@dataclasses.dataclass(frozen=True)
class _Lines:
    """What a file's lines do in its function."""

    ns: float = 0.0  # for each time that it is opened
    is_about_it: bool = False  # the function does little else


def _cost(lines: dict[int, _Lines], id: int) -> int:
    return round(lines[id].ns) if id in lines else 0


def _lines_of(process: ProcessData, name: OpenName) -> _Lines:
    code = process.names.codes.get(name.code) if name.code is not None else None
    return _Lines() if code is None or name.line is None else _about(process, code, name.line)


@functools.lru_cache(maxsize=1024)
def _about(process: ProcessData, code: CodeName, line: int) -> _Lines:
    """Of the line that opens files, the body of its `with`, and later ones that use it. Asked for
    each file: hundreds are opened in one line."""
    ns, hits = _by_line(process, code.id)
    text = _text(process, code.file)
    wanted = lines_using(text, line) if text else {line}
    used = sum(ns.get(line, 0.0) for line in wanted)
    is_about_it = used >= _ABOUT_LOADING * sum(ns.values())
    # Python comes back to the first line of a call over several: the others are hit once.
    header = header_lines(text, line) if text else [line]
    times = min((hits[line] for line in header if hits.get(line)), default=1)
    return _Lines(used / times, is_about_it)


@functools.lru_cache(maxsize=256)
def _by_line(process: ProcessData, code: int) -> tuple[dict[int, float], dict[int, int]]:
    """Time and hits of each line of a function, of all its copies."""
    ns: dict[int, float] = {}
    hits: dict[int, int] = {}
    for block in process.lines.blocks:
        if block.code_id != code:
            continue
        times = process.clock.duration_ns(block.entries["ticks"]).tolist()
        for number, (lasted, count) in enumerate(zip(times, block.hits.tolist(), strict=True)):
            line = block.first_line + number
            ns[line] = ns.get(line, 0.0) + lasted
            hits[line] = hits.get(line, 0) + int(count)
    return ns, hits


@functools.lru_cache(maxsize=64)
def _text(process: ProcessData, file: int) -> Text | None:
    name = process.names.files.get(file)
    lines = process.source_lines(name.source) if name else None
    return parsed(lines) if lines is not None else None
