"""A fix that changes nothing: a trial that keeps it takes noise for a gain."""

from typing import Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Script, Settings, Stage


class _ChangesNothing:
    name: Final = __name__
    title: Final = "change nothing"
    stage: Stage = "other"
    keeps: Keeps = "bits"
    is_ceiling: Final = False

    def propose(self, subject: Any) -> Proposal:
        return Proposal({}, self.title, None)

    def install(self, script: Script, settings: Settings) -> None:
        script.applied(self.title)


FIX: Final = _ChangesNothing()
