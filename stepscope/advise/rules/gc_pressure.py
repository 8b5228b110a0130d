"""Garbage collections take a real share of the step."""

import collections
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.words import at, counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.intervals import step_of
from stepscope.analyze.phases.garbage import collects_throughout
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.model import Location
from stepscope.model.rare import of_steps
from stepscope.store.events import Spans
from stepscope.store.format import SpanCategory

ID: Final = "gc-pressure"
TRIAL: Final = "gc-freeze"
_PHASE: Final = "gc"
_ALL_OBJECTS: Final = 3  # the generation that has them all
# Of what a collection walks, most is alive where it frees less: a young one has 700 to look at.
_LEAST_FREED: Final = 100
_MOSTLY: Final = 0.5
_MOST_PLACES: Final = 3  # that are listed
_ASKED: Final = "the script asks for it"

_BY_HAND: Final = (
    "Take gc.collect() out of the step: Python collects by itself. Where memory must be given "
    "back, do it every few hundred steps; gc.freeze() after the set-up keeps it from looking at "
    "the data and the model again."
)
_CYCLES: Final = (
    "Objects that refer to each other are only freed by the collector. Break the cycles when a "
    "step is over (set the references to None, or make one of them a weakref), or make fewer "
    "objects: arrays instead of one object per number. Otherwise collect seldom: gc.freeze() "
    "after the set-up, and gc.set_threshold() with as many objects as several steps make."
)
_ALIVE: Final = (
    "Call gc.freeze() after the set-up: what is there then is not looked at again. Raise the "
    "threshold (gc.set_threshold(50_000, 10, 10)), and keep data in arrays: an array of a million "
    "numbers is one object."
)


def judge(case: Case) -> list[Candidate]:
    """Comes after slow-outlier-steps, which has claimed those of a few slow steps."""
    by_step_ns = case.phase_by_step(_PHASE)
    cost = float(by_step_ns.mean())
    share = cost / case.step_ns
    if share < LEAST_SHARE or not (explains(case) or any(case.stacks.free(_PHASE))):
        return []
    places = _places(case)
    location = places[0][0] if places else None
    seen = Collections(case)
    of = of_steps(int((by_step_ns > 0).sum()), len(by_step_ns))
    case.stacks.claim_phase(_PHASE)
    return [
        Candidate(
            id=ID,
            title=f"Garbage collections take {percent(share)} of {of}",
            verdict=f"goes to garbage collection{_why(case, location, seen)}",
            of=of,
            share=share,
            evidence=[
                seen.words(cost, case.step_ns),
                *(
                    [f"They begin where {_cause(case, location)}: {_listed(places)}."]
                    if places
                    else []
                ),
            ],
            location=location,
            saving=Saving.without(cost, by_step_ns=by_step_ns, is_replaced=False),
            fix=_fix(case, location, seen),
            trial=TRIAL,
            source=case.code.text(location),
        )
    ]


def explains(case: Case) -> bool:
    """Whether collections are a matter of all steps, and not of a few slow ones: those are
    slow-outlier-steps, unless the script asks for them."""
    phases, measured = phases_by_step(case.process, case.steps), case.steps.is_measured
    spent = phases.ns[measured, phases.names.index(_PHASE)]
    return collects_throughout(case.process, spent, case.measured_ns)


class Collections:
    """Those in the measured steps that were long enough to be recorded."""

    def __init__(self, case: Case) -> None:
        spans = case.process.spans.of(SpanCategory.GC)
        self._steps = max(1, len(case.measured_ns))
        self._spans: Spans = spans[step_of(spans.start_ns, *case.window) >= 0]

    @property
    def freed(self) -> float:
        """Objects by collection, where it frees any worth mentioning."""
        mean = float(self._spans.freed_objects.mean()) if len(self._spans) else 0.0
        return mean if mean >= _LEAST_FREED else 0.0

    @property
    def freed_a_step(self) -> float:
        return float(self._spans.freed_objects.sum()) / self._steps

    def words(self, cost: float, step_ns: float) -> str:
        count = len(self._spans) / self._steps
        kind = "that look at all objects" if self._is_full else "that look at young objects only"
        freed = f"One frees {counted(self.freed, 'object')}" if self.freed else "They free nothing"
        return (
            f"{ms(cost)} of the {ms(step_ns)} step, in {counted(count, 'collection')} a step, most "
            f"of it in those {kind}. {freed}{' on average' if self.freed else ''}."
        )

    @property
    def _is_full(self) -> bool:
        """Whether most of the time goes to those that look at all objects."""
        lasted = self._spans.end_ns - self._spans.start_ns
        full = lasted[self._spans.generation == _ALL_OBJECTS]
        return bool(full.sum() > _MOSTLY * lasted.sum())


def _why(case: Case, location: Location | None, seen: Collections) -> str:
    which = "objects that refer to each other are made" if seen.freed else "objects are made"
    what = _ASKED if _is_asked_for(case, location) else which
    return f": {what}{at(location)}" if location else ""


def _cause(case: Case, location: Location | None) -> str:
    return _ASKED if _is_asked_for(case, location) else "objects are made"


def _is_asked_for(case: Case, location: Location | None) -> bool:
    return "gc.collect(" in (case.code.text(location) or "")


def _places(case: Case) -> list[tuple[Location, float]]:
    """The user's functions and lines in which collections begin, with their part of them: a
    collection begins when a new object is one too many."""
    spent: dict[str, dict[Location, float]] = collections.defaultdict(dict)
    looks = [look for look in case.stacks.time.looks if look.phase == _PHASE and look.users]
    for look in looks:
        place = case.code.place(look.users[-1])
        lines = spent[_function(place)]
        lines[place] = lines.get(place, 0.0) + look.ns
    whole = sum(look.ns for look in looks)
    functions = sorted(spent.values(), key=lambda lines: -sum(lines.values()))
    return [(max(each, key=each.__getitem__), sum(each.values()) / whole) for each in functions]


def _function(place: Location) -> str:
    return f"{place.file}:{place.function}"


def _listed(places: list[tuple[Location, float]]) -> str:
    return ", ".join(f"{percent(part)}{at(place)}" for place, part in places[:_MOST_PLACES])


def _fix(case: Case, location: Location | None, seen: Collections) -> str:
    if _is_asked_for(case, location):
        return _BY_HAND
    return _CYCLES if seen.freed else _ALIVE
