"""Runs the forward pass in 16 bits where that is safe (torch.autocast with bfloat16).

Results leave the model in 32 bits, so the loss is computed as before: autocast does the same inside
its block. float16 needs a GradScaler in the script's own lines, and is not tried.
"""

from typing import TYPE_CHECKING, Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.torch.results import cast
from stepscope.trial.fixes.torch.root_calls import Call, Place, add_layer, first_parameter

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class MixedPrecision:
    name = "mixed-precision"
    title = "matrix products in 16 bits"
    stage: Stage = "precision"
    keeps: Keeps = "precision"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.hardware import devices_of, no_fast_bfloat16

        if reason := no_fast_bfloat16(subject):
            return Refusal(reason)
        device = "cuda" if devices_of(subject.case) else "cpu"
        words = f'torch.autocast("{device}", dtype=torch.bfloat16)'
        return Proposal({"dtype": "bfloat16"}, words, _patch(subject, words))

    def install(self, script: Script, settings: Settings) -> None:
        def loaded(torch: Any) -> None:
            layer = Autocast(torch, script, getattr(torch, settings["dtype"]))
            add_layer(torch, script.patches, Place.AUTOCAST, layer.around)

        script.when_loaded("torch", loaded)


class Autocast:
    """Around the calls of models, while they train."""

    def __init__(self, torch: Any, script: Script, dtype: Any) -> None:
        self._torch, self._script, self._dtype = torch, script, dtype

    def around(self, call: Call) -> Call:
        def run(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            torch, device = self._torch, first_parameter(module).device.type
            reason = self._reason_against(module, device)
            if reason:
                self._script.refuse(reason)
            if reason or not torch.is_grad_enabled():
                return call(module, args, kwargs)
            with torch.autocast(device, dtype=self._dtype):
                result = call(module, args, kwargs)
            self._script.applied(f"autocast around {type(module).__name__}")
            return cast(torch, result, self._dtype, torch.float32)

        return run

    def _reason_against(self, module: Any, device: str) -> str | None:
        torch, given = self._torch, first_parameter(module).dtype
        if torch.is_autocast_enabled(device):
            return "the script uses autocast already"
        if given != torch.float32:
            return f"{type(module).__name__} computes in {given}, not in 32 bits"
        if device != "cuda" or self._dtype is not torch.bfloat16:
            return None
        if not torch.cuda.is_bf16_supported():
            return "this GPU has no bfloat16: mixed-precision-fp16 is for that"
        return None


def _patch(subject: "Subject", words: str) -> str:
    from stepscope.advise.evidence.model_call import model_call
    from stepscope.trial.fixes.torch.trainers import trainer_patch

    by_trainer = trainer_patch(
        subject, lightning=("precision", '"bf16-mixed"'), transformers=("bf16", "True")
    )
    if by_trainer:
        return by_trainer
    call = model_call(subject.case)
    found = call and call.inside(f"with {words}:")
    return found or f"with {words}:  # around the forward pass and the loss, not around backward\n"


FIX = MixedPrecision()
