"""Hits and time of every line, by function and role."""

import dataclasses

import numpy as np
import numpy.typing as npt

from stepscope.analyze.code.thinned_lines import likely_hits, line_ticks, no_longer_counted
from stepscope.analyze.libraries import is_generated
from stepscope.analyze.operators.line_figures import Figures, line_figures
from stepscope.analyze.run import all_notes, shown_path
from stepscope.clock import Ints
from stepscope.model import FunctionLines, LineRow, LinesAnswer, Process
from stepscope.store.reader import ProcessData, Run
from stepscope.store.records import CodeName, FileName
from stepscope.store.streams import CodeBlock

_Key = tuple[str, str, int, Process]  # path, function, first line, who
_Flags = npt.NDArray[np.bool_]
_NO_FIGURES = Figures()


@dataclasses.dataclass(eq=False)
class _Total:
    """A function's counters, summed over code objects and the processes of a role."""

    source: str | None
    hits: Ints
    likely_hits: Ints
    ns: Ints
    estimated: _Flags
    thinned: _Flags
    calls: int = 0
    figures: dict[int, Figures] = dataclasses.field(default_factory=dict)  # line to its operators'
    has_windows: bool = False
    has_device: bool = False
    has_memory: bool = False


def lines(run: Run, least_share: float = 0.0) -> LinesAnswer:
    """One entry per function, role and rank, the hottest first. Those that took less than that
    share of the hottest are left out."""
    totals: dict[_Key, _Total] = {}
    for process, block in _costly(run, least_share) if least_share else _blocks(run):
        _add_block(totals, process, block)
    functions = [_function(run, key, total) for key, total in totals.items() if total.hits.any()]
    functions.sort(key=lambda function: (-function.total_ns, function.file, function.first_line))
    return LinesAnswer(functions=functions, notes=_notes(run, functions))


def _blocks(run: Run) -> list[tuple[ProcessData, CodeBlock]]:
    return [(process, block) for process in run.processes for block in process.lines.blocks]


def _costly(run: Run, least_share: float) -> list[tuple[ProcessData, CodeBlock]]:
    every = _blocks(run)
    ns = np.array([_rough_ns(process, block) for process, block in every])
    kept = np.flatnonzero(ns >= least_share * ns.max(initial=0.0))
    return [every[index] for index in kept.tolist()]


def _rough_ns(process: ProcessData, block: CodeBlock) -> float:
    ticks = sum(float(block.entries[of].sum(dtype=np.float64)) for of in ("ticks", "sampled"))
    return ticks * process.clock.ns_per_tick


def _add_block(totals: dict[_Key, _Total], process: ProcessData, block: CodeBlock) -> None:
    found = _names(process, block)
    if found is None:
        return
    code, file = found
    key = (file.path, code.function, block.first_line, process.process)
    total = totals.get(key)
    if total is None:
        total = totals[key] = _Total(file.source, *_zeros(len(block.entries)))
    elif len(total.hits) < len(block.entries):
        _grow(total, len(block.entries))
    size = len(block.entries)
    total.hits[:size] += block.hits.astype(np.int64)
    total.likely_hits[:size] += likely_hits(process, block)
    total.ns[:size] += process.clock.duration_ns(line_ticks(process, block))
    total.thinned[:size] |= no_longer_counted(block)
    total.estimated[:size] |= block.thinned_lines | (block.entries["sampled"] > 0)
    total.calls += block.calls
    _add_figures(total, process, block)


def _add_figures(total: _Total, process: ProcessData, block: CodeBlock) -> None:
    """What the operator windows know about its lines."""
    known = line_figures(process)
    if known is None:
        return
    total.has_windows = True
    total.has_device |= known.has_device
    total.has_memory |= known.has_memory
    for line in range(block.first_line, block.first_line + len(block.entries)):
        figures = known.by_line.get((block.code_id, line))
        if figures is not None:
            total.figures.setdefault(line, Figures()).add(figures)


def _names(process: ProcessData, block: CodeBlock) -> tuple[CodeName, FileName] | None:
    known = process.names.code_and_file(block.code_id)
    return None if known is None or is_generated(known[1].path) else known


def _zeros(size: int) -> tuple[Ints, Ints, Ints, _Flags, _Flags]:
    hits, likely, ns = np.zeros((3, size), np.int64)
    estimated, thinned = np.zeros((2, size), np.bool_)
    return hits, likely, ns, estimated, thinned


def _grow(total: _Total, size: int) -> None:
    more = size - len(total.hits)
    total.hits = np.pad(total.hits, (0, more))
    total.likely_hits = np.pad(total.likely_hits, (0, more))
    total.ns = np.pad(total.ns, (0, more))
    total.estimated = np.pad(total.estimated, (0, more))
    total.thinned = np.pad(total.thinned, (0, more))


def _function(run: Run, key: _Key, total: _Total) -> FunctionLines:
    path, function, first_line, process = key
    text = run.source_lines(total.source)
    source = text[first_line - 1 : first_line - 1 + len(total.hits)] if text else None
    return FunctionLines(
        file=shown_path(run, path),
        function=function,
        first_line=first_line,
        process=process,
        total_ns=int(total.ns.sum()),
        lines=[
            _row(total, first_line, index, source) for index in np.flatnonzero(total.hits).tolist()
        ],
        calls=total.calls,
        source=source,
    )


def _row(total: _Total, first_line: int, index: int, source: list[str] | None) -> LineRow:
    figures = total.figures.get(first_line + index, _NO_FIGURES)
    return LineRow(
        line=first_line + index,
        hits=int(total.hits[index]),
        ns=int(total.ns[index]),
        ops_ns=figures.ops_ns if total.has_windows else None,
        device_ns=figures.device_ns if total.has_device else None,
        alloc_bytes=figures.alloc_bytes if total.has_memory else None,
        estimated=bool(total.estimated[index]),
        source=source[index] if source and index < len(source) else None,
        likely_hits=int(total.likely_hits[index]) if total.thinned[index] else None,
    )


def _notes(run: Run, functions: list[FunctionLines]) -> list[str]:
    notes = all_notes(run)
    unnamed = sum(_names(process, block) is None for process, block in _blocks(run))
    if unnamed:
        notes.append(f"The names of {unnamed} functions are missing: their lines are left out.")
    if any(function.source is None for function in functions):
        notes.append("The source text of some files is missing.")
    return notes
