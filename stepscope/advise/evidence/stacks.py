"""Where the steps' thread was seen, and which part of that a rule has explained.

Rules go from the specific to the general. A rule claims what it has explained, so that the next one
does not report the same time again under another name.
"""

import collections
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from stepscope.advise.evidence.code import Code
from stepscope.analyze.code.sampled_steps import PYTHON, Look, StepTime, step_time
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.model import Location

# Phases that are estimates of parts of others, where looks cannot tell them apart.
_SEEN_AS: Final = {"files": PYTHON, "profiler": PYTHON, "input": "compute"}


class Stacks:
    def __init__(self, code: Code) -> None:
        self._code = code
        self.claimed: set[Look] = set()
        # Files and functions that run beside the steps, if no look at them could be claimed.
        self.claimed_functions: set[tuple[str, str]] = set()

    @functools.cached_property
    def time(self) -> StepTime:
        """With as much of each phase as its spans say: on a busy machine, the sampler is late more
        often in some than in others."""
        process, steps = self._code.process, self._code.steps
        phases = phases_by_step(process, steps)
        timed = dict[str, float](
            zip(phases.names, phases.ns[steps.is_measured].sum(axis=0).tolist(), strict=True)
        )
        return as_timed(step_time(process, steps), timed)

    def free(self, *phases: str) -> Iterator[Look]:
        """Looks that no rule has claimed, of these phases (none given: of all)."""
        for look in self.time.looks:
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
        whole = self.share(look for look in self.time.looks if look.phase == phase)
        return self.share(self.free(phase)) / whole if whole else 1.0


def as_timed(seen: StepTime, timed_ns: dict[str, float]) -> StepTime:
    timed = _shares(timed_ns.items())
    looked = _shares((look.phase, look.ns) for look in seen.looks)

    def scaled(look: Look) -> Look:
        phase = _SEEN_AS.get(look.phase, look.phase)
        return dataclasses.replace(look, ns=look.ns * timed.get(phase, 0.0) / looked[phase])

    return dataclasses.replace(seen, looks=[scaled(look) for look in seen.looks if look.ns])


def _shares(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """By phase as looks know it."""
    found: dict[str, float] = collections.defaultdict(float)
    for phase, ns in parts:
        found[_SEEN_AS.get(phase, phase)] += ns
    whole = sum(found.values())
    return {phase: ns / whole for phase, ns in found.items() if whole}
