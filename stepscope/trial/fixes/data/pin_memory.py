"""Load batches into pinned memory, from which the GPU copies faster."""

import functools
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.data_loaders import MODULE, Arguments, change_arguments

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class PinMemory:
    name: Final = "pin-memory"
    title: Final = "load into pinned memory"
    stage: Stage = "data"
    keeps: Keeps = "bits"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.hardware import devices_of
        from stepscope.trial.fixes.proposing.loader_calls import loader_with

        if "torch" not in subject.frameworks:
            return None
        if not devices_of(subject.case):
            return Refusal("pinned memory is for copies to a GPU, and this run had none")
        patch = loader_with(subject.case.code.sources, {"pin_memory": "True"})
        return Proposal(settings={}, words="pin_memory=True", patch=patch)

    def install(self, script: Script, settings: Settings) -> None:
        script.when_loaded(MODULE, functools.partial(_change, script))


FIX: Final = PinMemory()


def _change(script: Script, module: ModuleType) -> None:
    def change(arguments: Arguments) -> Arguments:
        if not sys.modules["torch"].cuda.is_available():
            script.refuse("There is no GPU here that could copy from pinned memory.")
            return {}
        if not arguments["pin_memory"]:
            script.applied("pin_memory=True")
        return {"pin_memory": True}

    change_arguments(module, script.patches, change)
