"""Lets cuDNN time its convolutions and take the fastest (torch.backends.cudnn.benchmark)."""

from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.torch.device_setting import DeviceSetting

if TYPE_CHECKING:
    from stepscope.advise.evidence.case import Case


def _set(torch: Any) -> str | None:
    cudnn = torch.backends.cudnn
    if cudnn.benchmark or cudnn.deterministic:
        return "the script has set torch.backends.cudnn already"
    cudnn.benchmark = True
    return None


def _has_nothing_to_do(case: "Case") -> str | None:
    from stepscope.trial.fixes.torch.operators_seen import has_operator

    return "the script has no convolutions" if has_operator(case, "conv") is False else None


FIX: Final = DeviceSetting(
    name="cudnn-benchmark",
    title="the fastest convolutions of cuDNN",
    stage="other",
    keeps="rounding",
    of="cuDNN",
    line="torch.backends.cudnn.benchmark = True",
    where="before the training, if batches have one size",
    set_up=_set,
    why_not=_has_nothing_to_do,
)
