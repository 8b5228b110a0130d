"""Resident memory of each process over time, and whether it grows step by step."""

from typing import Final

import numpy as np

from stepscope.analyze.imported.memory import few_points, traced_lines, traced_memory
from stepscope.analyze.intervals import step_of
from stepscope.analyze.memory_curve import peak_of, with_peaks
from stepscope.analyze.operators.line_figures import line_figures
from stepscope.analyze.run import all_notes, code_location, source_text
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.analyze.timeline.one_clock import on_one_clock
from stepscope.clock import Ints
from stepscope.model import LineMemory, MemoryAnswer, ProcessMemory
from stepscope.store.reader import ProcessData, Run

_LEAST_STEPS: Final = 10  # fewer do not make a trend
_STILL: Final = 0.5  # of the trend: noise hides some of it
_STRETCHES: Final = 8
_IN_A_STRETCH: Final = 3  # measurements, at least


def memory(run: Run) -> MemoryAnswer:
    zero_ns = {id(each.process): each.zero_ns for each in on_one_clock(run).members}
    rows = [_process_memory(run, each, zero_ns[id(each)]) for each in run.processes]
    traced = [each for each in map(traced_memory, run.processes) if each is not None]
    machine = run.info.machine
    return MemoryAnswer(
        processes=[*(row for row in rows if row is not None), *(row for row, _ in traced)],
        machine_bytes=machine.memory_bytes,
        limit_bytes=machine.container_memory_bytes,
        notes=[*all_notes(run), *dict.fromkeys(note for _, note in traced)],
        lines=_lines(run),
    )


def _lines(run: Run) -> list[LineMemory] | None:
    """From the operator windows of every process."""
    windows = [(process, line_figures(process)) for process in run.processes]
    with_memory = [(process, each) for process, each in windows if each and each.has_memory]
    rows = [row for process in run.processes for row in traced_lines(run, process)]
    if not with_memory and not rows:
        return None
    for process, each in with_memory:
        for (code, line), figures in each.by_line.items():
            location = code_location(run, process, code, line)
            if location is not None and figures.alloc_bytes:
                source = source_text(run, process, code, line)
                rows.append(
                    LineMemory(
                        location=location, process=process.process, source=source,
                        alloc_bytes=figures.alloc_bytes, kept_bytes=figures.kept_bytes,
                    )
                )  # fmt: skip
    return sorted(rows, key=lambda row: (-row.kept_bytes, -row.alloc_bytes))


def peak_bytes(process: ProcessData) -> int | None:
    """The most that it had resident, as far as is known."""
    points = process.memory[process.memory.is_plausible]
    return peak_of(points) if len(points) else None


def _process_memory(run: Run, process: ProcessData, zero_ns: int) -> ProcessMemory | None:
    """`zero_ns`: where the timeline begins on the clock of the process."""
    points = process.memory[process.memory.is_plausible]
    peak = peak_bytes(process)
    if peak is None:
        return None
    at_ns, resident = points.at_ns, points.resident_bytes.astype(np.int64)
    own = resident - points.mapped_bytes  # a mapped data set is not growth
    return ProcessMemory(
        process=process.process,
        first_bytes=int(resident[0]),
        peak_bytes=peak,
        last_bytes=int(resident[-1]),
        growth_bytes_per_step=_growth(find_steps(run, process), at_ns, own),
        points=few_points(*with_peaks(points, zero_ns)),
    )


def _growth(steps: FoundSteps, at_ns: Ints, resident: Ints) -> float | None:
    """Bytes per step, over the measured ones.

    A trend is there from the first half to the second, and inside most short stretches too:
    memory that jumps up a few times, or rises and falls again, has no trend. Nor has what fills
    up and levels off: a framework that warms up, a queue of work that is ahead.
    """
    step = step_of(at_ns, steps.start_ns, steps.end_ns)
    measured = np.flatnonzero(step >= max(0, steps.warmup))
    step, resident = step[measured], resident[measured]
    if not len(step) or step[-1] - step[0] < _LEAST_STEPS:
        return None
    far = _slope(step, resident)
    count = max(1, min(_STRETCHES, len(step) // _IN_A_STRETCH))
    stretches = zip(np.array_split(step, count), np.array_split(resident, count), strict=True)
    near = float(np.median([_slope(*stretch) for stretch in stretches]))
    trend = min(far, near, key=abs) if far * near > 0 else 0.0
    return trend if trend <= 0 or _goes_on(step, resident, trend) else 0.0


def _goes_on(step: Ints, resident: Ints, by_step: float) -> bool:
    """Whether it still rises in the second half of the steps, from its first part to its last."""
    length = int(step[-1] - step[0])
    middle, part = int(step[0]) + length // 2, max(1, length // _STRETCHES)
    first = (step >= middle) & (step < middle + part)
    last = step > step[-1] - part
    if min(first.sum(), last.sum()) < _IN_A_STRETCH:
        return True
    rose = float(np.median(resident[last]) - np.median(resident[first]))
    apart = float(np.median(step[last]) - np.median(step[first]))
    return rose >= _STILL * by_step * apart


def _slope(step: Ints, resident: Ints) -> float:
    """The median of the slopes from the first half to the second."""
    half = len(step) // 2
    first, second = np.arange(half), np.arange(half) + len(step) - half
    apart = step[second] - step[first]
    slopes = (resident[second] - resident[first])[apart > 0] / apart[apart > 0]
    return float(np.median(slopes)) if len(slopes) else 0.0
