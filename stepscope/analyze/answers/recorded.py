"""What was and was not recorded in a run, and how to get what is missing."""

from typing import Final

import numpy as np

from stepscope.analyze.traces.windows import windows
from stepscope.model.page import Recorded
from stepscope.store.reader import Run

_MANY: Final = "{:,}"


def recorded(run: Run) -> list[Recorded]:
    processes = run.processes
    hits = sum(
        int(block.hits.astype(np.int64).sum()) for each in processes for block in each.lines.blocks
    )
    samples = sum(int(each.samples.samples["count"].sum()) for each in processes)
    counted = [each for each in processes if each.calls.is_recorded]
    calls = sum(int(each.calls.calls.sum()) for each in counted)
    found = sum(len(windows(each)) for each in processes)
    files = sum(len(each.opens) for each in processes)
    memory = sum(len(each.memory) for each in processes)
    return [
        _row("lines", hits, "hits", "none of your lines ran, or none was recorded"),
        _row("stacks", samples, "samples", "the run was too short for samples"),
        _row("calls", calls, "calls", "'stepscope run --calls' counts every call"),
        _row(
            "operators", found, "windows",
            "no framework with operators was used, or too few steps; '--ops all' records them "
            "from the start",
        ),
        _row("files", files, "openings", "your code opened no files"),
        _row("memory", memory, "points", "the run was too short"),
        _row("processes", len(processes), "recorded", "nothing was recorded"),
    ]  # fmt: skip


def _row(what: str, number: int, unit: str, without: str) -> Recorded:
    text = f"{_MANY.format(number)} {unit}" if number else without
    return Recorded(what=what, is_there=number > 0, text=text)
