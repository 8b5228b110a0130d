"""The user's function to compile: the outermost one that the loop of the steps calls."""

import collections
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.patch import decorated
from stepscope.analyze.code.sampled_steps import Frame
from stepscope.model import Location
from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal
from stepscope.trial.fixes.proposing.imports import name_of
from stepscope.trial.fixes.proposing.named_function import NamedFunction, named_function
from stepscope.trial.fixes.proposing.traceable import why_not

_MOST: Final = 0.5  # of the step's time


def step_function(case: Case, location: Location | None) -> NamedFunction | Refusal:
    """The further out, the more is compiled. Where a function cannot be, one that it calls may."""
    reasons = []
    for place in _chain(case, location):
        function = named_function(case, place)
        if isinstance(function, Refusal):
            reasons.append(function.reason)
            continue
        reason = why_not(case, function)
        if reason is None:
            return function
        reasons.append(f"{function.at} cannot be compiled as it is: {reason}.")
    if reasons:
        return Refusal(reasons[0])
    at = f" at {location.file}:{location.line}" if location else ""
    return Refusal(f"The step is in no function of its own{at}: put what it computes into one.")


def _chain(case: Case, location: Location | None) -> list[Location]:
    """From the function that the loop calls down to the one that the finding names."""
    header = case.code.step_header
    if location is None or header is None:
        return [location] if location else []
    if (header.file, header.function) == (location.file, location.function):
        return _called_from_loop(case, header)
    through = case.stacks.inside(location)
    if not through:
        return [location]
    frames = max(through, key=lambda look: look.ns).users
    last = max(i for i, frame in enumerate(frames) if case.code.is_in(frame, location))
    return [case.code.place(frame) for frame in _below(case, frames[: last + 1], header)]


def _called_from_loop(case: Case, header: Location) -> list[Location]:
    """The finding names a line of the loop itself: what that calls, if it is most of the step."""
    spent: dict[tuple[str, str], float] = collections.defaultdict(float)
    places: dict[tuple[str, str], Location] = {}
    for look in case.stacks.time.looks:
        for frame in _below(case, look.users, header)[:1]:
            place = case.code.place(frame)
            spent[place.file, place.function or ""] += look.ns
            places[place.file, place.function or ""] = place
    best = max(spent, key=lambda each: spent[each], default=None)
    if best is None or spent[best] < _MOST * case.stacks.time.total_ns:
        return []
    return [places[best]]


def _below(case: Case, frames: tuple[Frame, ...], header: Location) -> tuple[Frame, ...]:
    own = [i for i, frame in enumerate(frames) if case.code.is_in(frame, header)]
    return frames[own[-1] + 1 :] if own else frames


def with_decorator(
    function: NamedFunction, module: str, usual: str, decorator: str, keeps: Keeps | None = None
) -> Proposal:
    """`decorator`: "{}.function", with the file's own name for the module put in;
    `usual`: what most files call it."""
    written = decorator.format(name_of(function.text, module, usual))
    line = function.node.lineno
    return Proposal(
        settings={"function": function.place},
        words=f"{decorator.format(usual)}({function.node.name})",
        patch=decorated(function.recorded.file, function.text, line, written, None),
        keeps=keeps,
    )
