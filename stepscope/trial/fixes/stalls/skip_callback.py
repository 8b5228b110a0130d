"""Leave a callback or metric out after its first call, to see what it costs."""

from typing import Final

from stepscope.trial.fixes.stalls.left_out import LeftOut

FIX: Final = LeftOut(
    name="skip-callback",
    title="without the code between the passes",
    findings=("host-code",),
    every=None,
)
