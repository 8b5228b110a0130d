"""The wait for a generator of the script's own, as samples show it: no loader says what it does."""

import collections

import numpy as np

from stepscope.analyze.code.sampled_steps import Frame, step_time
from stepscope.analyze.input.limits import LIMIT_WORDS, at
from stepscope.analyze.input.loader_in_trace import LEAST_WAIT, loader_row, no_wait_words
from stepscope.analyze.input.loading_code import Place, place_with_most
from stepscope.analyze.phases.framework_spans import is_trained_by_framework
from stepscope.analyze.phases.own_batches import own_batches
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.analyze.phases.typical_steps import typical_ns
from stepscope.analyze.run import all_notes, shown_path
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.model import InputAnswer, InputLine, Limit, LoaderRow
from stepscope.store.reader import ProcessData, Run

_LEAST_SHARE = 0.01  # of the loading
_MOST = 10


def generator_of_run(run: Run, process: ProcessData, steps: FoundSteps) -> InputAnswer | None:
    """None: nothing was seen to make batches."""
    seen = [look for look in step_time(process, steps).looks if look.phase == "input"]
    is_framework = is_trained_by_framework(process)
    batches = own_batches(process, steps, seen, is_framework=is_framework)
    below = [(_users(batches.below(look)), look.ns) for look in seen]
    below = [(frames, ns) for frames, ns in below if frames]
    phases = phases_by_step(process, steps)
    if not below or "input" not in phases.names or not steps.is_measured.any():
        return None
    kept = steps.is_measured
    wait_ns = phases.ns[kept, phases.names.index("input")]
    usual_ns = typical_ns(process, steps, "input")
    sizes = steps.samples[steps.samples > 0]
    row = loader_row(
        wait_ns, steps.duration_ns[kept], usual_ns, workers=0,
        batch_size=int(np.median(sizes)) if len(sizes) else None,
    )  # fmt: skip
    lines = _lines(run, process, below, row.wait_ms)
    limit, why = _limit(row, lines)
    return InputAnswer(
        loader=row, limit=limit, why=why, stages=[], lines=lines, library=[], start_up_ms=None,
        notes=all_notes(run), limited_by=LIMIT_WORDS[limit],
    )  # fmt: skip


def _users(frames: tuple[Frame, ...]) -> list[Frame]:
    return [frame for frame in frames if frame.is_users]


def _limit(row: LoaderRow, lines: list[InputLine]) -> tuple[Limit, str]:
    if row.share < LEAST_WAIT:
        return "nothing", no_wait_words(row)
    return (
        "work",
        f"the script's own generator makes each batch in the step: less work{at(lines[0])}",
    )


def _lines(
    run: Run, process: ProcessData, below: list[tuple[list[Frame], float]], wait_ms: float
) -> list[InputLine]:
    """Callees included; those of the function that most of it was seen in come first."""
    whole = sum(ns for _, ns in below)
    spent: dict[tuple[Place, int], float] = collections.defaultdict(float)
    for frames, ns in below:
        for place in {(_place(run, frame), frame.line) for frame in frames}:
            spent[place] += ns
    first = place_with_most([([_place(run, each) for each in frames], ns) for frames, ns in below])
    order = sorted(spent.items(), key=lambda item: (item[0][0] != first, -item[1]))
    texts = _texts(run, process)
    return [
        InputLine(
            file=file,
            line=line,
            function=function,
            ms_per_batch=wait_ms * ns / whole,
            share=ns / whole,
            source=_line(texts.get(file), line),
        )
        for ((file, function), line), ns in order
        if ns >= _LEAST_SHARE * whole
    ][:_MOST]


def _place(run: Run, frame: Frame) -> Place:
    return shown_path(run, frame.function.file), frame.function.name


def _texts(run: Run, process: ProcessData) -> dict[str, list[str]]:
    files = process.names.files.values()
    texts = ((shown_path(run, file.path), process.source_lines(file.source)) for file in files)
    return {path: text for path, text in texts if text is not None}


def _line(text: list[str] | None, line: int) -> str | None:
    return text[line - 1] if text and 0 < line <= len(text) else None
