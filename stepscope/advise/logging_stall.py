"""Logging takes a real share of the steps."""

from typing import Final

import numpy as np

from stepscope.advise.case import Candidate, Case
from stepscope.advise.stall import PRINTS, TEXTS, TRAINERS_LOG, of_files, stall, where
from stepscope.analyze.step_time import Look
from stepscope.clock import Ints

ID: Final = "logging-stall"
_LEAST_WHEN_SELDOM: Final = 0.1
_LEAST_OF_TRAINERS: Final = 0.1
_LIBRARIES: Final = (
    "/logging/",
    "/tensorboard/",
    "/tensorboardX/",
    "/wandb/",
    "/mlflow/",
)
_PHASES: Final = ("python", "prepare", "logging", "sync", "optimizer", "forward")
_FIX: Final = (
    "Log every so many steps instead of in each one, keep numbers in memory and write them "
    "together, and leave histograms and pictures to every epoch."
)


def judge(case: Case) -> list[Candidate]:
    files, location = of_files(case, lambda path, _: bool(TEXTS.search(path)))
    if case.phase_by_step("logging").any():  # it has what is written in it
        files, location = files * 0, None
    looks = [look for look in case.free(*_PHASES) if _logs(case, look)]
    if case.share(looks) < _LEAST_OF_TRAINERS:  # what everybody does: self.log("loss", loss)
        looks = [look for look in looks if not _is_trainers(case, look)]
    library = None
    if location is not None:
        looks = [look for look in looks if not any(case.is_in(f, location) for f in look.users)]
    said = _cost(case, looks)
    if said.sum() > files.sum():
        location, library = where(case, looks)
    found = stall(
        case, id=ID, cost_by_step=files + said, location=location, library=library, does="logs",
        fix=_FIX, least_share_when_seldom=_LEAST_WHEN_SELDOM,
    )  # fmt: skip
    mine = set(looks)
    case.claim(lambda look: look in mine)
    if found and location is not None and files.any():
        case.claim_place(location, found[0].share)
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
    text = case.text(case.place(look.users[-1])) or ""
    return bool(PRINTS.search(text)) and look.phase == "python"


def _is_trainers(case: Case, look: Look) -> bool:
    text = case.text(case.place(look.users[-1])) if look.users else None
    return bool(TRAINERS_LOG.search(text or ""))


def _cost(case: Case, looks: list[Look]) -> Ints:
    """The phase where it is told; what the samples show besides, spread over all steps."""
    told = case.phase_by_step("logging")
    besides = case.sure_share(look for look in looks if look.phase != "logging") * case.step_ns
    spread: Ints = told + np.int64(besides)
    return spread
