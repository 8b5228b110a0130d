"""A fix for tests: `time.sleep` waits only a part of what it is asked to."""

import time
from typing import Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Script, Settings, Stage


class _ShorterNaps:
    name = "trial.own_fixes.shorter_naps"
    title = "sleep less"
    stage: Stage = "other"
    keeps: Keeps = "bits"
    is_ceiling = False

    def propose(self, subject: Any) -> Proposal:
        return Proposal({"part": 0.2}, "sleep a fifth as long", "Sleep less.\n")

    def install(self, script: Script, settings: Settings) -> None:
        sleep = time.sleep

        def nap(seconds: float) -> None:
            script.applied(f"part={settings['part']}")
            sleep(seconds * settings["part"])

        script.patches.set(time, "sleep", nap)


FIX = _ShorterNaps()
