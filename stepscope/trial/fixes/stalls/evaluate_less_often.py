"""Evaluate at every tenth time that the script wants to evaluate."""

from typing import Final

from stepscope.trial.fixes.stalls.left_out import LeftOut
from stepscope.trial.fixes.stalls.library_calls import EVALUATES

FIX: Final = LeftOut(
    name="evaluate-less-often",
    title="evaluate less often",
    findings=("evaluation-stall",),
    every=10,
    library=EVALUATES,
)
