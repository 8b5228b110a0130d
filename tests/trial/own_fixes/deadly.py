"""A fix for tests: the script dies of an instruction that the CPU does not have."""

import os
import signal
import time
from typing import Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Script, Settings, Stage


class _Deadly:
    name = "trial.own_fixes.deadly"
    title = "die"
    stage: Stage = "other"
    keeps: Keeps = "bits"
    is_ceiling = False

    def propose(self, subject: Any) -> Proposal:
        return Proposal({}, "die", None)

    def install(self, script: Script, settings: Settings) -> None:
        def die(seconds: float) -> None:
            os.kill(os.getpid(), signal.SIGILL)

        script.applied("die")
        script.patches.set(time, "sleep", die)


FIX = _Deadly()
