"""Allows TF32 in matrix products: fast units of a GPU, with fewer bits than float32."""

from typing import Any, Final

from stepscope.trial.fixes.torch.device_setting import DeviceSetting

_AMPERE: Final = (8, 0)


def _set(torch: Any) -> str | None:
    if torch.cuda.get_device_capability() < _AMPERE:
        return "this GPU has no TF32 (compute capability below 8.0)"
    if torch.get_float32_matmul_precision() != "highest":
        return "the script allows TF32 already"
    torch.set_float32_matmul_precision("high")
    return None


FIX: Final = DeviceSetting(
    name="tf32",
    title="matrix products in TF32",
    stage="precision",
    keeps="precision",
    of="TF32",
    line='torch.set_float32_matmul_precision("high")',
    where="before the training",
    set_up=_set,
)
