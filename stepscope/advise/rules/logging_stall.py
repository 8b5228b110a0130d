"""Logging takes a real share of the steps."""

import re
from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import where
from stepscope.advise.evidence.written_files import of_files
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import HALF
from stepscope.advise.rules.stall import stall
from stepscope.analyze.code.sampled_steps import Look
from stepscope.analyze.phases.opened_files import is_log
from stepscope.clock import Ints
from stepscope.model import Location

ID: Final = "logging-stall"
# Of the time. Logging now and then costs a line or a plot: a tenth of the time is too much.
_LEAST_WHEN_SELDOM: Final = 0.1
# Of the time. `self.log("loss", loss)` in every step is what every Lightning user does: on its
# own it is not a fault.
_LEAST_OF_TRAINERS: Final = 0.1
_TRAINERS_LOG: Final = re.compile(r"\bself\.log(_dict)?\(")
_FIX: Final = (
    "Log every N steps instead of every step, keep numbers in memory and write them "
    "together, and write histograms and images only once per epoch."
)


def judge(case: Case) -> list[Candidate]:
    looks = list(case.stacks.free("logging", slow=True))
    if case.stacks.share(looks) < _LEAST_OF_TRAINERS:  # usual: self.log("loss", loss)
        looks = [look for look in looks if not _is_trainers(case, look)]
    cost = (case.phase_by_step("logging") * _part_of_phase(case, looks)).astype(np.int64)
    location, library = _place(case, looks, cost)
    found = stall(
        case, id=ID, cost_by_step=cost, location=location, library=library, doing="logging",
        fix=_FIX, trial="log-less-often", least_share_when_seldom=_LEAST_WHEN_SELDOM,
    )  # fmt: skip
    mine = set(looks)
    case.stacks.claim(lambda look: look in mine)
    if found and location is not None and not case.is_framework:
        case.stacks.claim_place(location, found[0].share)
    return found


def _place(case: Case, looks: list[Look], cost: Ints) -> tuple[Location | None, str | None]:
    """Without a framework, the line that opens the log if writing it is most of the logging."""
    files, location = of_files(case, is_log)
    if location is not None and not case.is_framework and files.sum() >= HALF * cost.sum():
        return location, None
    return where(case, looks)


def _is_trainers(case: Case, look: Look) -> bool:
    text = case.code.text(case.code.place(look.users[-1])) if look.users else None
    return bool(_TRAINERS_LOG.search(text or ""))


def _part_of_phase(case: Case, looks: list[Look]) -> float:
    """How much of the phase these looks are: a trainer's usual logging may not be among them."""
    mine = set(looks)
    phase = [look for look in case.stacks.time.looks if look.phase == "logging"]
    whole = case.stacks.share(phase)
    return case.stacks.share(look for look in phase if look in mine) / whole if whole else 1.0
