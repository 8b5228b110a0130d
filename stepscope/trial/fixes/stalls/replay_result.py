"""Use a function's first result again and again, to see what computing it costs."""

import dataclasses
from typing import Final

from stepscope.trial.fixes.fix import Script, Settings
from stepscope.trial.fixes.inside.replayed import replayed
from stepscope.trial.fixes.inside.user_functions import Place, when_defined
from stepscope.trial.fixes.stalls.left_out import LeftOut


@dataclasses.dataclass(frozen=True)
class ReplayResult(LeftOut):
    def _words(self, function: str, every: int | None) -> str:
        return f"the first result of {function}, again and again"

    def install(self, script: Script, settings: Settings) -> None:
        place = Place.of(settings["function"])
        when_defined(place, lambda found: replayed(found, script.applied), script.patches)


FIX: Final = ReplayResult(
    name="replay-result",
    title="the result without computing it",
    findings=("python-hot-loop", "host-code"),
    is_ceiling=True,
    keeps="training",
)
