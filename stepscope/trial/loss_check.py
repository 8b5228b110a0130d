"""Whether a fix leaves the training the same: the losses with it, beside those without it."""

from typing import Final

from stepscope.analyze.run import load
from stepscope.analyze.steps.losses import Losses, losses
from stepscope.compare.losses import LOWER_PRECISION, REORDERED, compare_losses
from stepscope.model.trial import LossCheck, Same
from stepscope.trial.fixes.fix import Keeps

# What each kind of fix may do. "unknown": there are no losses, or the script's own differ as much.
_ALLOWED: Final[dict[Keeps, tuple[Same, ...]]] = {
    "bits": ("bitwise", "unknown"),
    "rounding": ("bitwise", "within tolerance", "unknown"),
    "precision": ("bitwise", "within tolerance", "unknown"),
    "training": ("bitwise", "within tolerance", "unknown", "different"),
}


def checked(before: str, after: str, controls: list[str], keeps: Keeps) -> LossCheck:
    """Run folders. `controls`: other runs of what `before` is a run of."""
    tolerance = LOWER_PRECISION if keeps == "precision" else REORDERED
    one, other = _of(before), _of(after)
    own = [_of(run) for run in controls]
    found = compare_losses(one, other, tolerance=tolerance, controls=own)
    varies = any(compare_losses(one, each).same != "bitwise" for each in own)
    return LossCheck(
        same=_called(found.same, keeps),
        as_promised=is_as_promised(keeps, found.same, own_runs_vary=varies),
        max_difference=found.max_difference,
        words=_words(found.words, keeps),
    )


def is_as_promised(keeps: Keeps, same: Same, *, own_runs_vary: bool) -> bool:
    """`own_runs_vary`: two runs of the unchanged script differ in their last bits: then no fix can
    keep them."""
    asked = "rounding" if keeps == "bits" and own_runs_vary else keeps
    return same in _ALLOWED[asked]


def _called(same: Same, keeps: Keeps) -> Same:
    """Another training is never called the same, whatever its first steps look like."""
    return "unknown" if keeps == "training" and same != "different" else same


def _words(words: str, keeps: Keeps) -> str:
    if keeps != "training":
        return words
    return f"another training, by what the fix does ({words}): judge it by your own measure"


def _of(run: str) -> Losses:
    return losses(load(run))
