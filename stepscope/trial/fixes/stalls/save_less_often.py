"""Save so much less often that it hardly costs anything any more."""

from typing import Final

from stepscope.trial.fixes.stalls.left_out import LeftOut
from stepscope.trial.fixes.stalls.library_calls import SAVES

FIX: Final = LeftOut(
    name="save-less-often",
    title="save less often",
    findings=("checkpoint-stall",),
    library=SAVES,
)
