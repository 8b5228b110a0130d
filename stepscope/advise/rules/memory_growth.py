"""Memory grows step by step."""

import dataclasses
from typing import Final

from stepscope.advise.evidence import cycles
from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.kept_things import Kept, kept_things
from stepscope.advise.evidence.words import at, span
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.answers.memory import memory
from stepscope.model import LineMemory, Location, ProcessMemory
from stepscope.model.sizes import size

ID: Final = "memory-growth"
# Over the measured steps: bytes (allocators keep some tens of MB free), and the part of what there
# was before (less is a cache that fills). Less is enough where a line is known that keeps what a
# step made: two witnesses.
_WITHOUT: Final = 32 * 2**20, 0.05
_WITH_A_LINE: Final = 8 * 2**20, 0.02
_GOOD_PART: Final = 0.25  # of the growth: small blocks are not all of what an allocator takes
_DAY_S: Final = 24 * 3600.0  # a training that takes a day is nothing unusual

_FIX: Final = "{keep}, empty lists and caches that grow, and write results out every N steps."
_BOUNDED: Final = (
    "If it is meant to fill up, see that all of it fits; else give it a smaller bound, or store "
    "what is in it in fewer bytes (smaller types, one copy of what is shared)."
)
_IN_CYCLES: Final = (
    "memory grows by {size} a step, but the script makes reference cycles, which only the garbage "
    "collector frees: record more steps, or call gc.collect() every few steps, to see what stays"
)
_COMPILED: Final = (
    "Every graph that is compiled stays in memory: compile less often (see recompilation). If "
    "it still grows then, look for lists and caches that keep tensors."
)


@dataclasses.dataclass(frozen=True)
class _Growth:
    by_step: float  # bytes
    steps: int
    from_bytes: int
    to_bytes: int
    free_bytes: float | None  # when the last step ended

    @property
    def steps_left(self) -> float | None:
        return max(0.0, self.free_bytes / self.by_step) if self.free_bytes is not None else None


def judge(case: Case) -> list[Candidate]:
    answer = memory(case.run)
    row = next((row for row in answer.processes if row.process == case.process.process), None)
    growth = _growth(case, row) if row else None
    if growth is None:
        return []
    kept = next(iter(kept_things(case.code)), None)
    by_line = [line for line in answer.lines or [] if line.process == row.process] if row else []
    seen = next((line for line in by_line if line.kept_bytes > 0), None)
    is_seen = seen is not None and _explains(case, growth, seen)
    if row and not is_seen and cycles.are_made(case):
        growth = _after_a_collection(case, row, growth)
    if not _is_much(growth, kept is not None or is_seen) or _will_fit(growth, kept):
        return []
    location = kept.location if kept else seen.location if seen else None
    return [_candidate(case, growth, kept, location)]


def _explains(case: Case, growth: _Growth, seen: LineMemory) -> bool:
    """Whether what a line's operators left behind in the windows is a good part of the growth."""
    try:
        steps = case.operators.steps
    except CannotJudge:
        return False
    return seen.kept_bytes / steps >= _GOOD_PART * growth.by_step


def _growth(case: Case, row: ProcessMemory) -> _Growth | None:
    by_step = row.growth_bytes_per_step
    if by_step is None or by_step <= 0:
        return None
    first_ns, last_ns = int(case.window[0][0]), int(case.window[1][-1])
    return _Growth(
        by_step=by_step,
        steps=len(case.measured_ns),
        from_bytes=_resident(case, row, first_ns),
        to_bytes=_resident(case, row, last_ns),
        free_bytes=_free_bytes(case, last_ns, row),
    )


def _after_a_collection(case: Case, row: ProcessMemory, growth: _Growth) -> _Growth:
    """What grew after cycles that had piled up were freed once: before, that was not yet known to
    stay."""
    first_ns, last_ns = cycles.first_older_collection_ns(case), int(case.window[1][-1])
    if first_ns is None:
        raise CannotJudge(_IN_CYCLES.format(size=size(growth.by_step)))
    steps = max(1, int((case.window[0] >= first_ns).sum()))
    before, after = _resident(case, row, first_ns), _resident(case, row, last_ns)
    by_step = min(growth.by_step, (after - before) / steps)
    return dataclasses.replace(growth, by_step=by_step, steps=steps, from_bytes=before)


def _resident(case: Case, row: ProcessMemory, at_ns: int) -> int:
    """What the process had then: imports and set-up are not growth, nor is what it freed at its
    end."""
    before = [p.resident_bytes for p in row.points if p.at_ns <= at_ns - case.process.start_ns]
    return before[-1] if before else row.first_bytes


def _free_bytes(case: Case, at_ns: int, row: ProcessMemory) -> float | None:
    """What the machine or the container had left when the last step ended. Where nobody looked: the
    whole, less what this process had at most."""
    seen = [each for each in case.run.system if each.get("monotonic_ns", at_ns + 1) <= at_ns]
    left = [_left(seen[-1])] if seen else []
    machine = case.run.info.machine
    limits = (machine.container_memory_bytes, machine.memory_bytes)
    left = left if any(left) else [each - row.peak_bytes for each in limits if each]
    return min((each for each in left if each is not None), default=None)


def _left(seen: dict[str, int | None]) -> float | None:
    used, limit = seen.get("container_memory_bytes"), seen.get("container_limit_bytes")
    both = [seen.get("memory_available_bytes"), limit - used if limit and used else None]
    return min((each for each in both if each is not None), default=None)


def _is_much(growth: _Growth, has_line: bool) -> bool:
    least_bytes, share = _WITH_A_LINE if has_line else _WITHOUT
    total = growth.by_step * growth.steps
    return total >= max(least_bytes, share * growth.from_bytes)


def _will_fit(growth: _Growth, kept: Kept | None) -> bool:
    """Whether it fills something that has a bound, and all of that fits into memory."""
    if kept is None or kept.most is None or growth.steps_left is None:
        return False
    return kept.most / max(kept.hits, 1e-9) <= growth.steps_left


def _candidate(
    case: Case, growth: _Growth, kept: Kept | None, location: Location | None
) -> Candidate:
    left_s = growth.steps_left * case.step_ns / 1e9 if growth.steps_left is not None else None
    has_bound = kept is not None and kept.has_bound
    may_fit = has_bound and kept is not None and kept.most is None
    full = f": memory is full in {span(left_s)} at this rate" if left_s is not None else ""
    what = f"fills {kept.owner}" if kept and has_bound else "keeps memory that it does not free"
    return Candidate(
        id=ID,
        title=f"Memory grows by {size(growth.by_step)} per step",
        verdict=f"{what}{at(location)}{full}",
        share=0.0,
        evidence=[*_evidence(growth, left_s), *_where(kept, location)],
        location=location,
        saving=Saving.nothing(),
        fix=_fix(case, location, has_bound),
        source=case.code.text(location),
        is_always_reported=True,
        ends_job="within a day" if (left_s or _DAY_S) < _DAY_S and not may_fit else "later",
    )


def _evidence(growth: _Growth, left_s: float | None) -> list[str]:
    rose = (
        f"{size(growth.by_step)} more in each of {growth.steps} measured steps, from "
        f"{size(growth.from_bytes)} to {size(growth.to_bytes)}."
    )
    if left_s is None or growth.free_bytes is None or growth.steps_left is None:
        return [rose]
    return [
        rose,
        f"{size(growth.free_bytes)} were free then: enough for {growth.steps_left:,.0f} more "
        f"steps, or {span(left_s)}.",
    ]


def _where(kept: Kept | None, location: Location | None) -> list[str]:
    if kept is None:
        return [f"Something is kept in every step{at(location)}."] if location else []
    if kept.most is not None:
        return [
            f"{kept.owner} is added to{at(location)}; the {kept.most:,} that it may hold are more."
        ]
    if kept.has_bound:
        return [
            f"{kept.owner} is added to{at(location)}. It has a bound, which this run did not "
            "reach: that is no leak if all of it fits."
        ]
    return [f"{kept.owner} is added to in every step{at(location)}, and nothing is taken out."]


def _fix(case: Case, location: Location | None, has_bound: bool) -> str:
    if has_bound:
        return _BOUNDED
    if location is None and case.phase_ns("compile"):
        return _COMPILED
    return _FIX.format(keep=words_for(case).memory_growth)
