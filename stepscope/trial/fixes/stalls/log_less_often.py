"""Log at every tenth time that the script wants to log."""

from typing import Final

from stepscope.trial.fixes.stalls.left_out import LeftOut
from stepscope.trial.fixes.stalls.library_calls import LOGS

FIX: Final = LeftOut(
    name="log-less-often",
    title="log less often",
    findings=("logging-stall",),
    every=10,
    library=LOGS,
)
