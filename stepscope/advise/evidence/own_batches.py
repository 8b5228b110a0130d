"""A generator of the user's that makes the batches: what it does below the header of the loop."""

import dataclasses
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import OWN, trains, where
from stepscope.analyze.answers.input import input as input_of
from stepscope.analyze.code.sampled_steps import Look
from stepscope.model import Location

_ALL: Final = 0.97  # of a step: nothing is left that could train


@dataclasses.dataclass(frozen=True)
class Making:
    looks: list[Look]
    location: Location | None
    library: str | None


def making_batches(case: Case) -> Making | None:
    """`for batch in batches(...)`: what happens in the loop's header is waiting for its batch."""
    header = case.code.step_header
    if header is None or not _brings_batches(case, header):
        return None
    looks = [
        look
        for look in case.stacks.free()
        if any(case.code.place(frame) == header for frame in look.users)
        and _below(case, look, header).users
    ]
    if not case.stacks.sure_share(looks) or _is_training(case, looks):
        return None
    location, library = where(case, [_below(case, look, header) for look in looks], looks)
    own = case.stacks.free(*OWN)
    looks += [look for look in own if look.users and _is_at(case, look, header)]
    return Making(looks, location, library)


def reading_functions(case: Case) -> set[tuple[str, str]]:
    """Files and functions of the reader that a tf.data pipeline calls, on threads of its own."""
    answer = input_of(case.run, process=case.process.info.pid)
    is_pipeline = answer.loader is not None and answer.loader.workers is None
    return {(each.file, each.function or "") for each in answer.lines if is_pipeline}


def _brings_batches(case: Case, header: Location) -> bool:
    """The condition of a `while` only asks whether to go on, unless it assigns what it got."""
    text = (case.code.text(header) or "").strip()
    return not text.startswith("while") or ":=" in text


def _is_training(case: Case, looks: list[Look]) -> bool:
    """`for loss in train(...)`: a generator that does the step's own work."""
    if not case.is_framework:
        return case.stacks.share(looks) > _ALL
    return trains(case, looks)


def _is_at(case: Case, look: Look, header: Location) -> bool:
    """In the header itself: the batch before is freed there."""
    return case.code.place(look.users[-1]) == header


def _below(case: Case, look: Look, header: Location) -> Look:
    """The part of a stack that the header called."""
    places = [frame.is_users and case.code.place(frame) == header for frame in look.frames]
    return Look(look.phase, look.frames[places.index(True) + 1 :], look.ns)
