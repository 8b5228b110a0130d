"""Allows TF32 in matrix products: fast units of a GPU, with fewer bits than float32."""

from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.torch.device_setting import on_gpu

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_LINE: Final = 'torch.set_float32_matmul_precision("high")'
_AMPERE: Final = (8, 0)


class Tf32:
    name = "tf32"
    title = "matrix products in TF32"
    stage: Stage = "precision"
    keeps: Keeps = "precision"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        if "torch" not in subject.frameworks:
            return None
        from stepscope.trial.fixes.torch.hardware import devices_of

        if not devices_of(subject.case):
            return Refusal("TF32 needs a GPU, and this run had none")
        return Proposal({}, _LINE, f"{_LINE}  # before the training\n")

    def install(self, script: Script, settings: Settings) -> None:
        on_gpu(script, _set)


def _set(torch: Any) -> str | None:
    if torch.cuda.get_device_capability() < _AMPERE:
        return "this GPU has no TF32 (compute capability below 8.0)"
    if torch.get_float32_matmul_precision() != "highest":
        return "the script allows TF32 already"
    torch.set_float32_matmul_precision("high")
    return None


FIX = Tf32()
