"""Where the steps' thread was seen, and which part of that a rule has explained.

Rules go from the specific to the general. A rule claims what it has explained, so that the next one
does not report the same time again under another name.
"""

import collections
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import numpy as np

from stepscope.advise.evidence.code import Code
from stepscope.analyze.code.sampled_steps import PYTHON, Look, Place, StepTime, step_time, time_in
from stepscope.analyze.libraries import users_files
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.analyze.phases.typical_steps import typical_steps
from stepscope.analyze.run import shown_path
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.model import Location
from stepscope.model.categories import OUTLIERS
from stepscope.store.reader import ProcessData

# A phase that is an estimate of a part of another, where looks cannot tell them apart.
_SEEN_AS: Final = {"input": "compute"}
_RECORDING: Final = "profiler"
# Counters and looks at the same time differ by what recording takes, and by chance.
_SLACK, _SLACK_SHARE = 1.1, 0.01


class Stacks:
    def __init__(self, code: Code, timed_ns: Mapping[str, float]) -> None:
        """`timed_ns`: the phases of the mean step."""
        self._code = code
        self._timed_ns = timed_ns
        self.claimed: set[Look] = set()
        # Files and functions that run beside the steps, if no look at them could be claimed.
        self.claimed_functions: set[tuple[str, str]] = set()

    @functools.cached_property
    def time(self) -> StepTime:
        """With as much of each phase as its spans say, and of each function no more than its lines
        took: on a busy machine, the sampler is late more often in some than in others."""
        seen = as_timed(_seen(self._code.process, self._code.steps), self._timed_ns)
        return as_counted(seen, self._most_shares())

    def _most_shares(self) -> dict[Place, float]:
        """Of the measured time, for each of the user's functions whose lines were all counted: all
        that it ever took, callees included."""
        steps = self._code.steps
        whole = max(1.0, float(steps.duration_ns[steps.is_measured].sum()))
        files = {shown_path(self._code.run, file): file for file in users_files(self._code.process)}
        return {
            (files[each.file], each.first_line): sum(row.ns for row in each.lines) / whole
            for each in self._code.functions
            if each.file in files and not any(row.estimated for row in each.lines)
        }

    def free(self, *phases: str, slow: bool = False) -> Iterator[Look]:
        """Looks that no rule has claimed, of these phases (none given: of all). `slow`: also at
        what slow steps take above a typical one."""
        for look in self.time.looks:
            if look.is_slow and not slow:
                continue
            if look not in self.claimed and (not phases or look.phase in phases):
                yield look

    def share(self, looks: Iterable[Look]) -> float:
        return sum(look.ns for look in looks) / self.time.total_ns if self.time.total_ns else 0.0

    def sure_share(self, looks: Iterable[Look]) -> float:
        """0 if so few moments stand behind it that it may be chance."""
        share = self.share(looks)
        return share if share > self.time.error(share) else 0.0

    def claim(self, wanted: Callable[[Look], bool]) -> None:
        self.claimed |= {look for look in self.time.looks if wanted(look)}

    def claim_phase(self, name: str) -> None:
        self.claim(lambda look: look.phase == name)

    def claim_place(self, location: Location, share: float) -> None:
        """The function, or only its line if the function does much more than this share."""
        is_whole = self.is_whole_function(location, share)
        self.claimed |= set(self.inside(location) if is_whole else self.at(location))

    def is_whole_function(self, location: Location, share: float) -> bool:
        """Whether the function does hardly more than this share. Sampled shares are off by chance:
        within a third, or two hundredths, it is the same time."""
        return self.share(self.inside(location)) <= 1.3 * share + 0.02

    def inside(self, location: Location) -> list[Look]:
        """Looks with that function in their stack."""
        return [
            look
            for look in self.time.looks
            if any(self._code.is_in(frame, location) for frame in look.users)
        ]

    def at(self, location: Location) -> list[Look]:
        """Looks with that line in their stack."""
        return [look for look in self.time.looks if self._code.is_at(look.users, location)]

    def free_share(self, phase: str) -> float:
        """The share of a phase that no rule has claimed."""
        whole = self.share(
            look for look in self.time.looks if look.phase == phase and not look.is_slow
        )
        return self.share(self.free(phase)) / whole if whole else 1.0


def _seen(process: ProcessData, steps: FoundSteps) -> StepTime:
    """Of the measured steps. What was seen in slow ones is usual as far as its phase is."""
    typical = typical_steps(process, steps)
    if not typical.is_slow.any():
        return step_time(process, steps)
    usual = time_in(process, steps, steps.is_measured & ~typical.is_slow)
    slow = time_in(process, steps, typical.is_slow)
    phases = phases_by_step(process, steps)
    whole_ns = phases.ns[typical.is_slow].sum(axis=0)
    parts = typical.beyond_ns.sum(axis=0) / np.maximum(1, whole_ns)
    beyond = dict(zip(phases.names, parts.tolist(), strict=True))
    looks = list(usual.looks)
    for look in slow.looks:
        part = beyond.get(look.phase, 0.0)
        looks.append(dataclasses.replace(look, ns=look.ns * (1 - part)))
        looks.append(dataclasses.replace(look, ns=look.ns * part, is_slow=True))
    return StepTime(looks, usual.count + slow.count, usual.total_ns + slow.total_ns)


def as_timed(seen: StepTime, timed_ns: Mapping[str, float]) -> StepTime:
    looked = _shares((_phase(look), look.ns) for look in seen.looks)
    if "files" not in looked:  # too short to be seen: part of what lies around them
        timed_ns = {PYTHON if name == "files" else name: ns for name, ns in timed_ns.items()} | {
            PYTHON: timed_ns.get("files", 0.0) + timed_ns.get(PYTHON, 0.0)
        }
    timed = _with_python_as_seen(_shares(timed_ns.items()), looked)

    def scaled(look: Look) -> Look:
        phase = _SEEN_AS.get(_phase(look), _phase(look))
        return dataclasses.replace(look, ns=look.ns * timed.get(phase, 0.0) / looked[phase])

    looks = [scaled(look) for look in seen.looks if look.ns]
    recorded = timed.get(_RECORDING, 0.0)
    if recorded and looks and _RECORDING not in looked:
        looks.append(Look(_RECORDING, (), recorded * seen.total_ns))
    return dataclasses.replace(seen, looks=looks)


def _with_python_as_seen(timed: dict[str, float], looked: Mapping[str, float]) -> dict[str, float]:
    """What recording took is counted, and taken off Python: no look tells the two apart. Between
    what is left of Python and both, it has as much as was seen of it."""
    python, recorded = timed.get(PYTHON, 0.0), timed.get(_RECORDING, 0.0)
    seen = min(max(looked.get(PYTHON, 0.0), python), python + recorded)
    return timed | {PYTHON: seen, _RECORDING: recorded - (seen - python)}


def as_counted(seen: StepTime, most: Mapping[Place, float]) -> StepTime:
    """What was seen of a function beyond what it took is in the rest of the same phase. The least
    of them first, as most of it may be in the others."""
    looks, inside = list(seen.looks), _inside(seen.looks)
    for place in sorted(inside.keys() & most.keys(), key=lambda place: most[place]):
        mine = inside[place]
        share = sum(looks[index].ns for index in mine) / max(1.0, seen.total_ns)
        if share > _SLACK * most[place] + _SLACK_SHARE:
            _shrink(looks, mine, most[place] / share)
    return dataclasses.replace(seen, looks=looks)


def _inside(looks: list[Look]) -> dict[Place, set[int]]:
    """The looks with each function of the user's in their stack, by number."""
    found: dict[Place, set[int]] = collections.defaultdict(set)
    for index, look in enumerate(looks):
        for frame in look.users:
            found[frame.function.file, frame.function.line].add(index)
    return found


def _shrink(looks: list[Look], mine: set[int], part: float) -> None:
    """To this part of them. A phase with nothing else in it stays as it is: its spans say so."""
    for phase in {_phase(looks[index]) for index in mine}:
        here = [index for index, look in enumerate(looks) if _phase(look) == phase]
        inside = sum(looks[index].ns for index in here if index in mine)
        rest = sum(looks[index].ns for index in here) - inside
        if not rest:
            continue
        more = 1 + (1 - part) * inside / rest
        for index in here:
            times = part if index in mine else more
            looks[index] = dataclasses.replace(looks[index], ns=times * looks[index].ns)


def _phase(look: Look) -> str:
    return OUTLIERS if look.is_slow else look.phase


def _shares(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """By phase as looks know it."""
    found: dict[str, float] = collections.defaultdict(float)
    for phase, ns in parts:
        found[_SEEN_AS.get(phase, phase)] += ns
    whole = sum(found.values())
    return {phase: ns / whole for phase, ns in found.items() if whole}
