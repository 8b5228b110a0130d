"""Let Keras' layers compute in bfloat16, and keep their weights in 32 bits."""

import functools
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.keras.compile_arguments import PACKAGES

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_POLICY: Final = "mixed_bfloat16"  # float16 would need a loss scale in loops written by hand
_PLAIN: Final = "float32"


class TfMixedPrecision:
    """What a model returns goes back to 32 bits, so that losses are computed as before: by hand
    one gives the last layer dtype="float32"."""

    name: Final = "tf-mixed-precision"
    title: Final = "compute in bfloat16"
    stage: Stage = "precision"
    keeps: Keeps = "precision"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.hardware import no_fast_bfloat16

        if reason := no_fast_bfloat16(subject):
            return Refusal(reason)
        return Proposal(
            settings={},
            words=f"set_global_policy('{_POLICY}')",
            patch=f"keras.mixed_precision.set_global_policy('{_POLICY}')  # before the model is "
            'made; its last layer gets dtype="float32"\n',
        )

    def install(self, script: Script, settings: Settings) -> None:
        for package in PACKAGES:
            script.when_loaded(package, functools.partial(_compute_in_16_bits, script))


FIX: Final = TfMixedPrecision()


class _Here(threading.local):
    is_inside = False  # a call of a layer


def _compute_in_16_bits(script: Script, keras: Any) -> None:
    policies = keras.mixed_precision
    now = _name(policies.global_policy())
    if now != _PLAIN:
        script.refuse(f"Keras computes in {now} already.")
        return
    policies.set_global_policy(_POLICY)
    script.patches.on_undo(lambda: policies.set_global_policy(_PLAIN))
    _return_32_bits(script, keras)


def _return_32_bits(script: Script, keras: Any) -> None:
    owner = keras.layers.Layer
    before: Callable[..., Any] = owner.__call__
    here = _Here()

    @functools.wraps(before)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if here.is_inside:
            return before(self, *args, **kwargs)
        here.is_inside = True
        try:
            result = before(self, *args, **kwargs)
        finally:
            here.is_inside = False
        if _name(getattr(self, "dtype_policy", None)) != _POLICY:
            return result
        script.applied(f"{type(self).__name__} in bfloat16")
        return _cast(result, keras)

    script.patches.set(owner, "__call__", __call__)


def _name(policy: Any) -> str:
    return str(getattr(policy, "name", policy))


def _cast(value: Any, keras: Any) -> Any:
    """Tensors of 16 bits, in whatever they are returned in. Those that only stand for a model's
    inputs while it is built stay: the model would end with a cast otherwise."""
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return type(value)(_cast(each, keras) for each in value)
    if type(value) is dict:
        return {name: _cast(each, keras) for name, each in value.items()}
    dtype = getattr(value, "dtype", None)
    if getattr(dtype, "name", str(dtype)) != "bfloat16" or type(value).__name__ == "KerasTensor":
        return value
    if keras.__name__ == "tf_keras":
        return sys.modules["tensorflow"].cast(value, _PLAIN)
    return keras.ops.cast(value, _PLAIN)
