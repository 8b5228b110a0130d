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
_USED: Final = 0.02  # of the training's time in one function: below that it does not use it

_Key = tuple[str, str]  # file, function


def where(
    case: Case, looks: Iterable[Look], group: Iterable[Look] | None = None
) -> tuple[Location | None, str | None]:
    """The user's function that holds most of the time, its line, and the library function with at
    least half of it, if there is one. `group`: the looks as they are in the case, if `looks` hold
    only parts of their stacks."""
    looks = list(looks)
    location = _innermost(case, looks, set(looks if group is None else group))
    libraries: dict[str, float] = collections.defaultdict(float)
    for look in looks:
        if (called := _called(look)) is not None:
            libraries[called.function.name] += look.ns
    most = max(libraries, key=lambda name: libraries[name], default=None)
    if most is not None and 2 * libraries[most] < sum(look.ns for look in looks):
        most = None
    return location, most


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
    training = [look for look in _training(case, group) if look.users]
    training_ns = sum(look.ns for look in training)
    chance_ns = _CHANCE * case.stacks.time.total_ns / max(1, case.stacks.time.count)
    least_ns = max(_USED * training_ns, chance_ns)
    depth, inside = 0, [look for look in looks if look.users]
    while inside:
        spent: dict[_Key, float] = collections.defaultdict(float)
        for look in inside:
            spent[_key(case, look.users[depth])] += look.ns
        top = max(spent, key=lambda key: spent[key])
        if best is not None and spent[top] < _MOST * sum(look.ns for look in looks):
            break
        inside = [look for look in inside if _key(case, look.users[depth]) == top]
        if best is None or _used_elsewhere_ns(case, training, inside, depth) <= least_ns:
            best = Location(file=top[0], line=_line_with_most(inside, depth), function=top[1])
        depth += 1
        inside = [look for look in inside if len(look.users) > depth]
    return best


def _used_elsewhere_ns(case: Case, training: list[Look], inside: list[Look], depth: int) -> float:
    """The training's time in the function that these looks have at that depth, if it came there
    from elsewhere: a function around both is not shared, it is passed through on the way."""
    key = _key(case, inside[0].users[depth])
    ways = {_way(case, look, depth) for look in inside}
    return sum(
        look.ns
        for look in training
        if key in {_key(case, frame) for frame in look.users}
        and _way(case, look, depth) not in ways
    )


def _way(case: Case, look: Look, depth: int) -> tuple[object, ...]:
    """The lines that lead to the function at that depth, and the function."""
    called = tuple(case.code.place(frame) for frame in look.users[:depth])
    return *called, *(_key(case, frame) for frame in look.users[depth : depth + 1])


def _line_with_most(looks: list[Look], depth: int) -> int:
    lines: dict[int, float] = collections.defaultdict(float)
    for look in looks:
        lines[look.users[depth].line] += look.ns
    return max(lines, key=lambda number: lines[number])


def _key(case: Case, frame: Frame) -> _Key:
    return case.code.shown(frame), frame.function.name


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


def trains(case: Case, looks: Iterable[Look]) -> bool:
    """Whether the passes are part of what these looks saw."""
    looks = list(looks)
    passes = case.stacks.share(look for look in looks if look.phase in PASSES)
    return passes > _TRAINS * case.stacks.share(looks)
