"""A fix for tests: waits for a module that no script here loads."""

from typing import Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Script, Settings, Stage


class _NeverReached:
    name = "trial.own_fixes.never_reached"
    title = "wait for ever"
    stage: Stage = "other"
    keeps: Keeps = "bits"
    is_ceiling = False

    def propose(self, subject: Any) -> Proposal:
        return Proposal({}, "wait", None)

    def install(self, script: Script, settings: Settings) -> None:
        script.when_loaded("telnetlib", lambda _: script.applied("loaded"))


FIX = _NeverReached()
