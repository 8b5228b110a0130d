"""Logging takes a real share of the steps."""

import collections
import re
from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import beside, where
from stepscope.advise.evidence.written_files import of_files
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.stall import stall
from stepscope.analyze.code.sampled_steps import Frame, Look
from stepscope.analyze.phases.opened_files import is_log
from stepscope.clock import Ints
from stepscope.model import Location

ID: Final = "logging-stall"
# Of the time. Logging now and then costs a line or a plot: a tenth of the time is too much.
_LEAST_WHEN_SELDOM: Final = 0.1
# Of the time. `self.log("loss", loss)` in every step is what every Lightning user does: on its
# own it is not a fault.
_LEAST_OF_TRAINERS: Final = 0.1
# Of a function's time: it is there to log. One that does something else and prints a line at its
# end has less (tests/advise/test_logging.py has one of each).
_LOGS: Final = 0.25
_LIBRARIES: Final = (
    "/logging/",
    "/tensorboard/",
    "/tensorboardX/",
    "/wandb/",
    "/mlflow/",
)
_PRINTS: Final = re.compile(
    r"\bprint\(|\blogg?(er|ing)?\.|\.write\(|\.flush\(|\.writerow|\bfsync\("
)
_TRAINERS_LOG: Final = re.compile(r"\bself\.log(_dict)?\(")
_PHASES: Final = ("python", "prepare", "logging", "sync", "optimizer", "forward")
_FIX: Final = (
    "Log every N steps instead of every step, keep numbers in memory and write them "
    "together, and write histograms and images only once per epoch."
)


def judge(case: Case) -> list[Candidate]:
    files, location = of_files(case, is_log)
    if case.reported_by_step("logging").any():  # it includes what is written in it
        files, location = files * 0, None
    looks = [look for look in case.stacks.free(*_PHASES, slow=True) if _logs(case, look)]
    if case.stacks.share(looks) < _LEAST_OF_TRAINERS:  # usual: self.log("loss", loss)
        looks = [look for look in looks if not _is_trainers(case, look)]
    looks += _around(case, looks)
    library = None
    if location is not None:
        looks = [
            look for look in looks if not any(case.code.is_in(f, location) for f in look.users)
        ]
    sampled = _cost(case, looks)
    if sampled.sum() > files.sum():
        location, library = where(case, looks)
    found = stall(
        case, id=ID, cost_by_step=files + sampled, location=location, library=library, does="logs",
        fix=_FIX, trial="log-less-often", least_share_when_seldom=_LEAST_WHEN_SELDOM,
    )  # fmt: skip
    mine = set(looks)
    case.stacks.claim(lambda look: look in mine)
    if found and location is not None and files.any():
        case.stacks.claim_place(location, found[0].share)
    return found


def _logs(case: Case, look: Look) -> bool:
    if look.phase == "logging":
        return True
    libraries = [frame.function.file for frame in look.frames if not frame.is_users]
    if any(part in file for file in libraries for part in _LIBRARIES):
        return True
    if not look.users:
        return False
    if _is_trainers(case, look):
        return True
    text = case.code.text(case.code.place(look.users[-1])) or ""
    return bool(_PRINTS.search(text)) and look.phase == "python"


def _is_trainers(case: Case, look: Look) -> bool:
    text = case.code.text(case.code.place(look.users[-1])) if look.users else None
    return bool(_TRAINERS_LOG.search(text or ""))


def _around(case: Case, looks: list[Look]) -> list[Look]:
    """What else a logging function does, such as collecting and rounding what it writes. Not known
    without a framework, as the training is Python as well then."""
    spent: dict[Location, float] = collections.defaultdict(float)
    for look in looks:
        if look.users:
            spent[_function(case, look.users[-1])] += look.ns
    if not spent or not case.is_framework:
        return []
    location = max(spent, key=lambda place: spent[place])
    inside = set(case.stacks.inside(location))
    mine = set(looks)
    if case.stacks.share(inside & mine) < _LOGS * case.stacks.share(inside):
        return []
    return [look for look in beside(case, location) if look not in mine]


def _function(case: Case, frame: Frame) -> Location:
    return Location(
        file=case.code.shown(frame), line=frame.function.line, function=frame.function.name
    )


def _cost(case: Case, looks: list[Look]) -> Ints:
    """The phase if there is one; what the samples show in addition, spread over as many steps as
    run the lines that it was seen in."""
    logged = (case.reported_by_step("logging") * _part_of_phase(case, looks)).astype(np.int64)
    seen = [look for look in looks if look.phase != "logging"]
    extra_ns = case.stacks.sure_share(seen) * case.step_ns * len(logged)
    count = max(1, round(_part_of_steps(case, seen) * len(logged)))
    spread: Ints = logged.copy()
    spread[np.argsort(case.measured_ns)[-count:]] += np.int64(extra_ns / count)  # the slowest
    return spread


def _part_of_phase(case: Case, looks: list[Look]) -> float:
    """How much of the phase these looks are: a trainer's usual logging may not be among them."""
    mine = set(looks)
    phase = [look for look in case.stacks.time.looks if look.phase == "logging"]
    whole = case.stacks.share(phase)
    return case.stacks.share(look for look in phase if look in mine) / whole if whole else 1.0


def _part_of_steps(case: Case, looks: list[Look]) -> float:
    """The part of the steps that log, by the hits of their lines; all if these are not known. The
    counters are exact, so they are not weighed by how much of a function the samples saw in steps:
    a line that ran as often as there are steps ran in each."""
    count = max(1, len(case.steps))
    hits = {(line.function.file, line.row.line): line.row.hits / count for line in case.code.lines}
    whole = sum(look.ns for look in looks)
    weighed = sum(
        look.ns * min(1.0, hits.get((case.code.shown(look.users[-1]), look.users[-1].line), 1.0))
        if look.users
        else look.ns
        for look in looks
    )
    return weighed / whole if whole else 1.0
