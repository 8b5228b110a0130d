"""What checkpoint-, logging- and evaluation-stall have in common: a phase that takes its share."""

import collections
import os
import re
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.code.sampled_steps import Frame, Look
from stepscope.analyze.phases.opened_files import read_opens
from stepscope.analyze.run import code_location
from stepscope.clock import Ints
from stepscope.model import Location

_PASSES: Final = ("forward", "backward", "optimizer", "compute")
_OWN: Final = ("python", "prepare")
_CHANCE: Final = 3  # looks: so many may be wrong
_TRAINS: Final = 0.05  # of a function's time: less is chance
SELDOM: Final = 0.25  # of the steps: once an epoch is what everybody does


def stall(
    case: Case,
    *,
    id: str,
    cost_by_step: Ints,
    location: Location | None,
    library: str | None,
    does: str,
    fix: str,
    least_share_when_seldom: float,
) -> list[Candidate]:
    """`does`: "saves", "logs", "evaluates"."""
    cost_by_step = np.minimum(cost_by_step, case.measured_ns)
    cost = float(cost_by_step.mean()) if len(cost_by_step) else 0.0
    if not cost:
        return []
    share = cost / case.step_ns
    with_it = int((cost_by_step > 0.02 * case.step_ns).sum())
    if with_it < SELDOM * len(cost_by_step) and share < least_share_when_seldom:
        return []
    return [
        Candidate(
            id=id,
            title=f"{does.capitalize()} in {with_it} of {len(cost_by_step)} steps",
            verdict=f"{does}{at(location)}",
            share=share,
            evidence=[
                f"It {does} in {with_it} of {len(cost_by_step)} measured steps, "
                f"{ms(float(cost_by_step[cost_by_step > 0].mean()))} each time: {ms(cost)} of the "
                f"{ms(case.step_ns)} of a mean step ({percent(share)}).",
                *([f"Most of it in {library}."] if library else []),
            ],
            location=location,
            saving=Saving.part_of(cost, expected=0.95, least=0.8),
            fix=fix,
            library=library,
            source=case.text(location),
        )
    ]


def where(
    case: Case, looks: Iterable[Look], group: Iterable[Look] | None = None
) -> tuple[Location | None, str | None]:
    """The function of the user's that holds most of it, its line, and the library function.
    `group`: the looks as they are in the case, where these are only parts of their stacks."""
    looks = list(looks)
    location = _innermost(case, looks, set(looks if group is None else group))
    libraries: dict[str, float] = collections.defaultdict(float)
    for look in looks:
        if (called := _called(look)) is not None:
            libraries[called.function.name] += look.ns
    return location, max(libraries, key=lambda name: libraries[name], default=None)


def _called(look: Look) -> Frame | None:
    """The library function that the user's code called; what only passes the call on is not meant:
    decorators, Module._wrapped_call_impl."""
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
    chance_ns = _CHANCE * case.time.total_ns / max(1, case.time.count)
    depth, inside = 0, [look for look in looks if look.users]
    while inside:
        spent: dict[tuple[str, str], float] = collections.defaultdict(float)
        for look in inside:
            frame = look.users[depth]
            spent[case.shown(frame), frame.function.name] += look.ns
        top = max(spent, key=lambda key: spent[key])
        if best is not None and spent[top] < 0.6 * sum(look.ns for look in looks):
            break
        used_ns = theirs.get(top, 0.0)
        if best and max(0.02 * training_ns, chance_ns) < used_ns < 0.8 * training_ns:
            break  # the training uses it as well; what is around all of it is passed through
        inside = [
            look
            for look in inside
            if (case.shown(look.users[depth]), look.users[depth].function.name) == top
        ]
        lines: dict[int, float] = collections.defaultdict(float)
        for look in inside:
            lines[look.users[depth].line] += look.ns
        line = max(lines, key=lambda number: lines[number])
        best = Location(file=top[0], line=line, function=top[1])
        depth += 1
        inside = [look for look in inside if len(look.users) > depth]
    return best


def _training(case: Case, group: set[Look]) -> list[Look]:
    """What trains, as far as that is known: the passes, without a framework all but this group."""
    return [
        look
        for look in case.time.looks
        if look not in group and (not case.is_framework or look.phase in _PASSES)
    ]


def _by_function(case: Case, looks: Iterable[Look]) -> dict[tuple[str, str], float]:
    spent: dict[tuple[str, str], float] = collections.defaultdict(float)
    for look in looks:
        for key in {(case.shown(frame), frame.function.name) for frame in look.users}:
            spent[key] += look.ns
    return spent


def beside(case: Case, location: Location) -> list[Look]:
    """What a function does in Python of its own, where it does not train as well."""
    inside = [
        look for look in case.time.looks if any(case.is_in(frame, location) for frame in look.users)
    ]
    if case.share(look for look in inside if look.phase in _PASSES) > _TRAINS * case.share(inside):
        return []
    return [look for look in inside if look.phase in _OWN and look not in case.claimed]


def of_files(case: Case, wanted: Callable[[str], bool]) -> tuple[Ints, Location | None]:
    """What lines cost, by measured step, that write such files, by their paths."""
    opens = read_opens(case.process, case.steps)
    kept = opens.is_writing & (opens.step >= 0) & (opens.thread == case.steps.thread)
    steps_of: dict[Location, set[int]] = collections.defaultdict(set)
    for number in np.unique(opens.name[kept]).tolist():
        name = case.process.names.opens.get(number)
        place = code_location(case.run, case.process, name.code, name.line) if name else None
        if place is None or name is None or _is_around_steps(case, place):
            continue
        if wanted(name.path):
            steps_of[place] |= set(opens.step[kept & (opens.name == number)].tolist())
    cost = np.zeros(len(case.steps), np.int64)
    for place, steps in steps_of.items():
        cost[sorted(steps)] += int(case.using_ns(place) * len(case.steps) / len(steps))
    location = max(steps_of, key=case.using_ns, default=None)
    return cost[case.steps.is_measured], location


def _is_around_steps(case: Case, place: Location) -> bool:
    """`trainer.fit(...)` opens files, too."""
    here = [look for look in case.time.looks if any(case.place(f) == place for f in look.users)]
    return case.share(here) > 0.9 and any(look.phase in _PASSES for look in here)


PRINTS: Final = re.compile(r"\bprint\(|\blogg?(er|ing)?\.|\.write\(|\.flush\(|\.writerow|\bfsync\(")
TRAINERS_LOG: Final = re.compile(r"\bself\.log(_dict)?\(")
_TEXTS: Final = re.compile(r"\.(csv|tsv|txt|log|jsonl?|out)(\.\w+)?$", re.I)
_STATES: Final = re.compile(r"checkpoint|ckpt|snapshot|weights|params", re.I)


def is_log(path: str) -> bool:
    """A text file, unless its name says that it keeps the model: checkpoint.json."""
    name = os.path.basename(path)
    return bool(_TEXTS.search(name)) and not _STATES.search(name)
