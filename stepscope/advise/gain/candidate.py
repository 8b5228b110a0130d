"""What a rule returns: a finding before it is weighed against the others."""

import dataclasses
from typing import Literal

from stepscope.advise.gain.saving import Saving
from stepscope.model import Location, Process


@dataclasses.dataclass(frozen=True, kw_only=True)
class Candidate:
    id: str
    title: str
    verdict: str  # continues "92 % of step time "
    of: str = "step time"  # what the share is of; made by of_steps if only some steps have it
    share: float
    evidence: list[str]
    saving: Saving
    fix: str
    location: Location | None = None
    process: Process | None = None  # None: the one that trains
    patch: str | None = None
    trial: str | None = None
    library: str | None = None
    source: str | None = None
    doubt: str | None = None  # why the gain is less certain than the number of steps suggests
    is_always_reported: bool = False  # also without a gain in time
    ends_job: Literal["within a day", "later"] | None = None  # at this rate, whatever it costs
    steps_behind: int | None = None  # None: all measured ones
    same_time_as: str | None = (
        None  # a finding that explains the same time, and whose fix is easier
    )
