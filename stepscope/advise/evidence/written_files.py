"""Files that steps write: what that costs, and which of them are logs."""

import collections
from collections.abc import Callable
from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import PASSES
from stepscope.analyze.phases.opened_files import read_opens
from stepscope.analyze.run import code_location
from stepscope.clock import Ints
from stepscope.model import Location

_AROUND: Final = 0.9  # of the steps' time: the line that calls the training


def of_files(case: Case, wanted: Callable[[str], bool]) -> tuple[Ints, Location | None]:
    """What the lines cost that write such files, by measured step, and the most expensive line."""
    opens = read_opens(case.process, case.steps)
    kept = (
        opens.is_writing & (opens.step >= 0) & (opens.thread == case.steps.thread_at(opens.at_ns))
    )
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
        cost[sorted(steps)] += int(case.code.using_ns(place) * len(case.steps) / len(steps))
    location = max(steps_of, key=case.code.using_ns, default=None)
    return cost[case.steps.is_measured], location


def _is_around_steps(case: Case, place: Location) -> bool:
    """`trainer.fit(...)` opens files, too."""
    here = case.stacks.at(place)
    return case.stacks.share(here) > _AROUND and any(look.phase in PASSES for look in here)
