"""The function whose calls can be left out, so that what a finding says no longer happens.

From the step loop inwards to the finding's line: the first one that does only this. Further in are
functions that the training may use as well: an evaluation reads the same data set.
"""

from collections.abc import Iterator
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import PASSES
from stepscope.model import Location
from stepscope.trial.fixes.fix import Refusal
from stepscope.trial.fixes.proposing.named_function import NamedFunction, named_function

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
    return Refusal(
        f"{innermost.at} does more than that, so its calls cannot be left out: put what takes the "
        "time into a function of its own."
    )


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
    name = (place.function or "").rpartition(".")[2]
    header = case.code.step_header
    if name.startswith("__") or name in _USED_BY_ALL:
        return False
    if header is not None and (header.file, header.function) == (place.file, place.function):
        return False
    inside = case.stacks.inside(place)
    whole = case.stacks.share(inside)
    trains = case.stacks.share(look for look in inside if look.phase in PASSES)
    return whole <= most + _CHANCE and trains <= _TRAINS * whole
