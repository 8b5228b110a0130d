"""Where time is spent: the user's line that holds most of it, and the library function."""

import collections
from collections.abc import Iterable
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.analyze.code.sampled_steps import Frame, Look
from stepscope.model import Location

PASSES: Final = ("forward", "backward", "optimizer", "compute")  # the phases that train
OWN: Final = ("python", "prepare", "files")  # the phases in which the script's own code runs
_OPTIMIZERS: Final = "/torch/optim/"
_CHANCE: Final = 3  # looks: this many may have fallen on the edge of a phase
_TRAINS: Final = 0.05  # of a function's time in the passes: less is chance
_MOST: Final = 0.6  # of the time in one function: below that it is no longer one place
# Of the training's time in one function: below _USED the training does not use it, above _AROUND
# it is around all of the training.
_USED, _AROUND = 0.02, 0.8


def where(
    case: Case, looks: Iterable[Look], group: Iterable[Look] | None = None
) -> tuple[Location | None, str | None]:
    """The user's function that holds most of the time, its line, and the library function.
    `group`: the looks as they are in the case, if `looks` hold only parts of their stacks."""
    looks = list(looks)
    location = _innermost(case, looks, set(looks if group is None else group))
    libraries: dict[str, float] = collections.defaultdict(float)
    for look in looks:
        if (called := _called(look)) is not None:
            libraries[called.function.name] += look.ns
    return location, max(libraries, key=lambda name: libraries[name], default=None)


def _called(look: Look) -> Frame | None:
    """The library function that the user's code called; functions that only pass the call on
    do not count: decorators, Module._wrapped_call_impl."""
    own = [number for number, frame in enumerate(look.frames) if frame.is_users]
    below = look.frames[own[-1] + 1 :] if own else look.frames
    return next((each for each in below if not _is_inner(each.function.name)), look.called)


def _is_inner(name: str) -> bool:
    last = name.rpartition(".")[2]
    return "<locals>" in name or (last.startswith("_") and not last.endswith("__"))


def _innermost(case: Case, looks: list[Look], group: set[Look]) -> Location | None:
    """From the outermost frame inwards as long as one function holds most of the time, and is not
    used for much else; there, the line with most of it."""
    best: Location | None = None
    others = _training(case, group)
    theirs = _by_function(case, others)
    training_ns = sum(look.ns for look in others)
    chance_ns = _CHANCE * case.stacks.time.total_ns / max(1, case.stacks.time.count)
    depth, inside = 0, [look for look in looks if look.users]
    while inside:
        spent: dict[tuple[str, str], float] = collections.defaultdict(float)
        for look in inside:
            frame = look.users[depth]
            spent[case.code.shown(frame), frame.function.name] += look.ns
        top = max(spent, key=lambda key: spent[key])
        if best is not None and spent[top] < _MOST * sum(look.ns for look in looks):
            break
        used_ns = theirs.get(top, 0.0)
        # One that the training uses as well is passed through, as is a function around all of it.
        is_shared = max(_USED * training_ns, chance_ns) < used_ns < _AROUND * training_ns
        inside = [
            look
            for look in inside
            if (case.code.shown(look.users[depth]), look.users[depth].function.name) == top
        ]
        lines: dict[int, float] = collections.defaultdict(float)
        for look in inside:
            lines[look.users[depth].line] += look.ns
        line = max(lines, key=lambda number: lines[number])
        if best is None or not is_shared:
            best = Location(file=top[0], line=line, function=top[1])
        depth += 1
        inside = [look for look in inside if len(look.users) > depth]
    return best


def _training(case: Case, group: set[Look]) -> list[Look]:
    """What trains, as far as that is known: the passes, without a framework all but this group."""
    return [
        look
        for look in case.stacks.time.looks
        if look not in group
        and (not case.is_framework or (look.phase in PASSES and not _is_hook(look)))
    ]


def _is_hook(look: Look) -> bool:
    """Whether the optimizer's step called the user's code: Lightning runs its hooks from there."""
    outer = (
        number for number, frame in enumerate(look.frames) if _OPTIMIZERS in frame.function.file
    )
    first = next(outer, len(look.frames))
    return look.phase == "optimizer" and any(frame.is_users for frame in look.frames[first:])


def _by_function(case: Case, looks: Iterable[Look]) -> dict[tuple[str, str], float]:
    spent: dict[tuple[str, str], float] = collections.defaultdict(float)
    for look in looks:
        for key in {(case.code.shown(frame), frame.function.name) for frame in look.users}:
            spent[key] += look.ns
    return spent


def trains(case: Case, looks: Iterable[Look]) -> bool:
    """Whether the passes are part of what these looks saw."""
    looks = list(looks)
    passes = case.stacks.share(look for look in looks if look.phase in PASSES)
    return passes > _TRAINS * case.stacks.share(looks)
