"""The function whose calls can be left out, so that what a finding says no longer happens.

From the step loop inwards to the finding's line: the first one that does only this. Further in are
functions that the training may use as well: an evaluation reads the same data set. Where a
framework shows what trains, a function may do more, if none of it does: it makes what it logs.
"""

from collections.abc import Iterator
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import PASSES
from stepscope.analyze.code.sampled_steps import Look
from stepscope.model import Location
from stepscope.trial.fixes.fix import Refusal
from stepscope.trial.fixes.proposing.named_function import NamedFunction, named_function
from stepscope.trial.fixes.proposing.training_calls import training_line

# Of what the finding says: a function may take that much more, by chance of the samples. Without a
# framework nothing else tells what trains.
_MORE: Final = 1.15
# Of a ceiling's function: what else it does makes the bound a little less tight, and no less true.
_MORE_OF_A_CEILING: Final = 1.5
_CHANCE: Final = 0.02  # of the step
_TRAINS: Final = 0.05  # of a function's time in the passes: less is the edge of a phase
_USED_BY_ALL: Final = ("forward", "call", "training_step", "train_step")


def left_out_function(
    case: Case, location: Location | None, share: float, *, is_ceiling: bool = False
) -> NamedFunction | Refusal:
    innermost = named_function(case, location)
    if location is None or isinstance(innermost, Refusal):
        return innermost
    for place in _inwards(case, location):
        function = named_function(case, place)
        if isinstance(function, NamedFunction) and _does_only(case, place, _MORE * share):
            return function
    if is_ceiling and _does_only(case, location, _MORE_OF_A_CEILING * share):
        return innermost
    trains: str | None = None
    for place in _inwards(case, location) if case.is_framework and not is_ceiling else ():
        function = named_function(case, place)
        if isinstance(function, NamedFunction) and _is_beside_the_training(case, place):
            line = training_line(function.node, case.code.sources)
            if line is None:
                return function
            trains = f"{function.recorded.file}:{line}"
    does_more = f"also trains ({trains})" if trains else "does more than that"
    return Refusal(
        f"{innermost.at} {does_more}, so its calls cannot be left out: put what takes the time "
        "into a function of its own"
    )


def share_of(case: Case, function: NamedFunction) -> float:
    """Of the step."""
    return case.stacks.share(_looks_in(case, function))


def has_phase(case: Case, function: NamedFunction, phase: str | None) -> bool:
    """Whether the function was seen in that phase."""
    return any(look.phase == phase for look in _looks_in(case, function))


def _looks_in(case: Case, function: NamedFunction) -> list[Look]:
    recorded = function.recorded
    place = Location(file=recorded.file, line=recorded.first_line, function=recorded.function)
    return case.stacks.inside(place)


def _inwards(case: Case, location: Location) -> Iterator[Location]:
    """The functions on the way from the step loop to the line, on most of its samples."""
    looks = case.stacks.inside(location)
    users = max(looks, key=lambda look: look.ns).users if looks else ()
    header = case.code.step_header
    around = [i for i, frame in enumerate(users) if header and case.code.is_in(frame, header)]
    for frame in users[around[-1] + 1 if around else 0 :]:
        yield case.code.place(frame)
        if case.code.is_in(frame, location):
            return
    if not looks:
        yield location


def _does_only(case: Case, place: Location, most: float) -> bool:
    """`most`: of the step, beyond chance."""
    inside = case.stacks.inside(place)
    return case.stacks.share(inside) <= most + _CHANCE and _is_beside_the_training(case, place)


def _is_beside_the_training(case: Case, place: Location) -> bool:
    name = (place.function or "").rpartition(".")[2]
    header = case.code.step_header
    if name.startswith("__") or name in _USED_BY_ALL:
        return False
    if header is not None and (header.file, header.function) == (place.file, place.function):
        return False
    inside = case.stacks.inside(place)
    trains = case.stacks.share(look for look in inside if look.phase in PASSES)
    return trains <= _TRAINS * case.stacks.share(inside)
