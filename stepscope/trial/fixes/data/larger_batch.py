"""Batches of twice the size: more samples a second, and another training.

The gain is that of samples a second. It is only kept where it is asked for by name.
"""

import functools
import statistics
from types import ModuleType
from typing import TYPE_CHECKING, Final

from stepscope.trial.fixes.fix import (
    CHANGES_BATCH,
    Keeps,
    Proposal,
    Refusal,
    Script,
    Settings,
    Stage,
)
from stepscope.trial.fixes.inside.data_loaders import MODULE, Arguments, change_arguments

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_TIMES: Final = 2  # the least step up: what it gains shows whether more is worth trying
_TO_DECIDE: Final = "another training, for you to decide about: --fixes larger-batch keeps it"


class LargerBatch:
    name: Final = "larger-batch"
    title: Final = "batches of twice the size"
    stage: Stage = "other"
    keeps: Keeps = "training"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing import loader_calls

        if "torch" not in subject.frameworks:
            return None
        if not loader_calls.gives_batches(subject.case):
            return Refusal("no DataLoader gives the steps their batches")
        size = _usual_size(subject)
        if size is None:
            return Refusal("the size of a batch is not known, so samples a second are unknown")
        words = f"batch_size={_TIMES * size}"
        patch = loader_calls.loader_with(
            subject.case.code.sources, {"batch_size": str(_TIMES * size)}
        )
        settings = {"times": _TIMES, CHANGES_BATCH: True}
        why_not = None if subject.is_named else _TO_DECIDE
        return Proposal(settings, words, patch, why_not_kept=why_not)

    def install(self, script: Script, settings: Settings) -> None:
        script.when_loaded(MODULE, functools.partial(_change, script, settings["times"]))


FIX: Final = LargerBatch()


def _change(script: Script, times: int, module: ModuleType) -> None:
    def change(arguments: Arguments) -> Arguments:
        size = arguments["batch_size"]
        if size is None or arguments["batch_sampler"] is not None:
            script.refuse("the script makes its batches itself (batch_sampler, batch_size=None)")
            return {}
        script.applied(f"batch_size={times * size} instead of {size}")
        return {"batch_size": times * size}

    change_arguments(module, script.patches, change)


def _usual_size(subject: "Subject") -> int | None:
    known = [each for each in subject.case.steps.samples.tolist() if each]
    return round(statistics.median(known)) if known else None
