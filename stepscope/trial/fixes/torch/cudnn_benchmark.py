"""Lets cuDNN time its convolutions and take the fastest (torch.backends.cudnn.benchmark)."""

from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.torch.device_setting import on_gpu

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_LINE: Final = "torch.backends.cudnn.benchmark = True"


class CudnnBenchmark:
    name = "cudnn-benchmark"
    title = "the fastest convolutions of cuDNN"
    stage: Stage = "other"
    keeps: Keeps = "rounding"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        if "torch" not in subject.frameworks:
            return None
        from stepscope.trial.fixes.torch.hardware import devices_of
        from stepscope.trial.fixes.torch.operators_seen import has_operator

        if not devices_of(subject.case):
            return Refusal("cuDNN needs a GPU, and this run had none")
        if has_operator(subject.case, "conv") is False:
            return Refusal("the script has no convolutions")
        return Proposal({}, _LINE, f"{_LINE}  # before the training, if batches have one size\n")

    def install(self, script: Script, settings: Settings) -> None:
        on_gpu(script, _set)


def _set(torch: Any) -> str | None:
    cudnn = torch.backends.cudnn
    if cudnn.benchmark or cudnn.deterministic:
        return "the script has set torch.backends.cudnn already"
    cudnn.benchmark = True
    return None


FIX = CudnnBenchmark()
