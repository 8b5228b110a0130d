"""Without a framework: the lines of the step loop that evaluate.

Their results no later step needs (idle_code.py), and either what they call is named like an
evaluation, or it runs what the training runs as well: the model.
"""

import collections
from collections.abc import Iterable

from stepscope.analyze.phases.collecting import step_loops
from stepscope.analyze.phases.idle_code import EVALUATES, idle_lines
from stepscope.analyze.phases.looks import Frame, Look
from stepscope.analyze.source_text import Function, Text, parsed
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.model import Location
from stepscope.store.reader import ProcessData

Key = tuple[str, str]  # file, function
Line = tuple[str, str, int]


def evaluating_lines(process: ProcessData, steps: FoundSteps, looks: list[Look]) -> set[Line]:
    found: set[Line] = set()
    sources = _Texts(process)
    for header in step_headers(process, steps):
        function = header.file, header.function or ""
        idle = idle_lines(sources, header, _by_line(looks, function))
        pieces: dict[int, list[Look]] = collections.defaultdict(list)
        for look in looks:
            frame = _frame_in(look, function)
            if frame is not None and frame.line in idle:
                pieces[idle[frame.line]].append(look)
        evaluating = {first for first, mine in pieces.items() if _evaluates(looks, mine, function)}
        found |= {(*function, line) for line, first in idle.items() if first in evaluating}
    return found


def key_of(frame: Frame) -> Key:
    return frame.function.file, frame.function.name


def _frame_in(look: Look, function: Key) -> Frame | None:
    return next((frame for frame in look.users if key_of(frame) == function), None)


def _by_line(looks: Iterable[Look], function: Key) -> dict[int, float]:
    spent: dict[int, float] = collections.defaultdict(float)
    for look in looks:
        if (frame := _frame_in(look, function)) is not None:
            spent[frame.line] += look.ns
    return spent


def _evaluates(looks: list[Look], mine: list[Look], function: Key) -> bool:
    called = [_below(look, function) for look in mine]
    inside = set().union(*called)
    if any(EVALUATES.match(name.rpartition(".")[2]) for _, name in inside):
        return True
    others = set(looks) - set(mine)
    trains = set().union(*({key_of(frame) for frame in look.users} for look in others))
    around = inside.intersection(*called)  # there to evaluate, whatever it is called
    return bool((inside - around) & (trains - {function}))


def _below(look: Look, function: Key) -> set[Key]:
    """What the step loop's function calls."""
    keys = [key_of(frame) for frame in look.users]
    return set(keys[keys.index(function) + 1 :])


def step_headers(process: ProcessData, steps: FoundSteps) -> list[Location]:
    """Of the loops that the steps happen in."""
    found = []
    for loop in step_loops(steps):
        known = process.names.code_and_file(loop.name.code)
        if known is not None:
            code, file = known
            found.append(Location(file=file.path, line=loop.name.line, function=code.function))
    return found


class _Texts:
    """The user's source texts, by path."""

    def __init__(self, process: ProcessData) -> None:
        self._texts = {path: parsed(lines) for path, lines in process.texts.items()}

    def text(self, file: str) -> Text | None:
        return self._texts.get(file)

    def definitions(self, name: str) -> list[Function]:
        texts = self._texts.values()
        return [each for text in texts for each in text.functions() if each.name == name]
