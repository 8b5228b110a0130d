"""Evaluate so much less often that it hardly costs anything any more."""

from typing import Final

from stepscope.trial.fixes.stalls.left_out import LeftOut
from stepscope.trial.fixes.stalls.library_calls import EVALUATES

FIX: Final = LeftOut(
    name="evaluate-less-often",
    title="evaluate less often",
    findings=("evaluation-stall",),
    library=EVALUATES,
    phase="evaluation",
)
