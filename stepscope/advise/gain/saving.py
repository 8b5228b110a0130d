"""What a fix takes off the step: a rule says what goes away, and how much of it at least."""

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

# Where the run does not show what the fix does instead: nothing is expected of it, and a quarter of
# what it replaces at most. What is done in less than every fourth step is no longer reported.
MOST_INSTEAD: Final = 0.25
HALF: Final = 0.5  # the middle between nothing and all, where the run shows neither


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Saving:
    """Off the mean measured step, in ns. `least` and `most` bound what is `expected`."""

    expected: float
    least: float
    most: float | None  # None: the run does not say
    # What is blamed in each measured step, where that is known; without it, the same share of all.
    by_step_ns: npt.NDArray[np.int64] | None = None
    # What recording took of what goes away, where its events are known: without it, neither the
    # step nor what is blamed would have had it.
    recorded_ns: float = 0.0
    # Something else does its work, and the run does not show what that takes. Not where the work is
    # left out: then the rest of the step, which was recorded, is all that is left.
    is_replaced: bool = True

    @staticmethod
    def part_of(ns: float, *, expected: float, least: float, most: float = 1.0) -> "Saving":
        """These parts (0 to 1) of a piece of the step."""
        return Saving(expected=ns * expected, least=ns * least, most=ns * most)

    @staticmethod
    def without(
        ns: float,
        *,
        error_ns: float = 0.0,
        most_ns: float = 0.0,
        by_step_ns: npt.NDArray[np.int64] | None = None,
        is_replaced: bool = True,
    ) -> "Saving":
        """The step without this piece of it, known up to an error. What is done instead is not."""
        least = (1 - MOST_INSTEAD) * max(0.0, ns - error_ns)
        most = max(ns + error_ns, most_ns)
        return Saving(
            expected=ns, least=least, most=most, by_step_ns=by_step_ns, is_replaced=is_replaced
        )

    @staticmethod
    def half_or_more(ns: float, *, most_ns: float = 0.0) -> "Saving":
        """The step without this piece of it, of which half may stay."""
        return Saving(expected=ns, least=HALF * ns, most=max(ns, most_ns))

    @staticmethod
    def nothing() -> "Saving":
        """For a fix that is not about time."""
        return Saving(expected=0.0, least=0.0, most=0.0)

    def limited_to(self, ns: float) -> "Saving":
        """Limits what is expected. `most` stays as it is: the limit is an estimate, too."""
        return dataclasses.replace(self, expected=min(self.expected, ns), least=min(self.least, ns))
