"""A fix for tests: fails when the script loads `colorsys`, or at once if the settings say so."""

from typing import Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Script, Settings, Stage


class _Broken:
    name = "trial.own_fixes.broken"
    title = "fail"
    stage: Stage = "other"
    keeps: Keeps = "bits"
    is_ceiling = False

    def propose(self, subject: Any) -> Proposal:
        return Proposal({"at_once": True}, "fail", None)

    def install(self, script: Script, settings: Settings) -> None:
        if settings["at_once"]:
            raise ValueError("it cannot work")
        script.when_loaded("colorsys", lambda module: module.nothing_of_that_name)


FIX = _Broken()
