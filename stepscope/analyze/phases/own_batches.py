"""A generator of the script's own that makes the batches, as samples show it.

`for batch in batches(...)`: what the step loop's header calls is waiting for the batch, whatever it
does. A condition of a `while` brings none, unless it assigns what it got; and a generator that
trains (`for loss in train(...)`) does the step's own work.
"""

from collections.abc import Iterable
from typing import Final

from stepscope.analyze.phases.evaluating_lines import key_of, step_headers
from stepscope.analyze.phases.looks import Frame, Look
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.store.reader import ProcessData

Header = tuple[str, str, int]  # file, function, line
_PASSES: Final = ("forward", "backward", "optimizer", "compute")
_TRAINS: Final = 0.05  # of the generator's time in the passes: less is chance
_ALL: Final = 0.97  # of a step: nothing is left that could train


def own_headers(
    process: ProcessData, steps: FoundSteps, looks: Iterable[Look], *, is_framework: bool
) -> set[Header]:
    """Headers of the step loop that bring batches."""
    looks = list(looks)
    found = {(each.file, each.function or "", each.line) for each in step_headers(process, steps)}
    return {
        header
        for header in found
        if _brings_batches(process, header) and not _trains(looks, header, is_framework)
    }


def below_header(look: Look, headers: set[Header]) -> tuple[Frame, ...]:
    """The frames that such a header called; none if there is none."""
    for number, frame in enumerate(look.frames):
        if (*key_of(frame), frame.line) in headers:
            return look.frames[number + 1 :]
    return ()


def makes_batch(look: Look, headers: set[Header]) -> bool:
    """Whether the user's own code runs below it."""
    return any(frame.is_users for frame in below_header(look, headers))


def _trains(looks: list[Look], header: Header, is_framework: bool) -> bool:
    inside = [look for look in looks if makes_batch(look, {header})]
    whole = sum(look.ns for look in inside)
    if not is_framework:
        return whole > _ALL * sum(look.ns for look in looks)
    return sum(look.ns for look in inside if look.phase in _PASSES) > _TRAINS * whole


def _brings_batches(process: ProcessData, header: Header) -> bool:
    path, _, line = header
    text = process.text_at(path, line).strip()
    return bool(text) and (not text.startswith("while") or ":=" in text)
