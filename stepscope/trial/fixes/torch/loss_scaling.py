"""Computes matrix products in float16 on a GPU, with the losses scaled up (GradScaler)."""

import functools
import sys
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.torch.mixed_precision import Autocast
from stepscope.trial.fixes.torch.root_calls import Call, Place, add_layer, first_parameter

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_TRAINERS: Final = frozenset({"lightning", "pytorch_lightning", "transformers", "accelerate"})
# Whoever looks at gradients between backward and step would see them scaled.
_LOOKS: Final = ("clip_grad_norm_", "clip_grad_value_", "autograd.grad", "autograd.backward")
_PATCH: Final = """\
scaler = torch.amp.GradScaler("cuda")  # once, before the training
with torch.autocast("cuda", dtype=torch.float16):  # around the forward pass and the loss
    ...
scaler.scale(loss).backward()  # instead of loss.backward()
scaler.step(optimizer)  # instead of optimizer.step()
scaler.update()
"""


class LossScaling:
    name = "mixed-precision-fp16"
    title = "matrix products in float16, with scaled losses"
    stage: Stage = "precision"
    keeps: Keeps = "precision"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.hardware import devices_of

        if not devices_of(subject.case):
            return Refusal("float16 with a GradScaler needs a GPU, and this run had none")
        if subject.frameworks & _TRAINERS:
            return Refusal(
                "the trainer scales losses itself: ask it for 16 bits (precision='16-mixed', "
                "fp16=True)"
            )
        reason = _looks_at_gradients(subject)
        if reason:
            return Refusal(reason)
        words = "torch.autocast(dtype=torch.float16) and a GradScaler"
        return Proposal({"device": "cuda"}, words, _PATCH)

    def install(self, script: Script, settings: Settings) -> None:
        def loaded(torch: Any) -> None:
            scaled = _ScaledLosses(torch, script, settings["device"])
            autocast = Autocast(torch, script, torch.float16)
            add_layer(torch, script.patches, Place.AUTOCAST, autocast.around)
            add_layer(torch, script.patches, Place.SETTING, scaled.around)
            scaled.install()

        script.when_loaded("torch", loaded)


class _ScaledLosses:
    """`device`: where the models must be."""

    def __init__(self, torch: Any, script: Script, device: str) -> None:
        self._torch, self._script, self._device = torch, script, device
        self._scaler: Any = None  # made at the first call of a model on the device

    def around(self, call: Call) -> Call:
        def run(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            device = first_parameter(module).device.type
            if device != self._device:
                name = type(module).__name__
                self._script.refuse(f"{name} is on the device {device!r}, not on a GPU")
            elif self._scaler is None:
                self._scaler = self._torch.amp.GradScaler(device)
            return call(module, args, kwargs)

        return run

    def install(self) -> None:
        torch, patches = self._torch, self._script.patches
        backward = torch.Tensor.backward

        @functools.wraps(backward)
        def scaled_backward(loss: Any, gradient: Any = None, *args: Any, **kwargs: Any) -> Any:
            is_loss = self._scaler is not None and gradient is None
            return backward(
                self._scaler.scale(loss) if is_loss else loss, gradient, *args, **kwargs
            )

        patches.set(torch.Tensor, "backward", scaled_backward)
        hooks = sys.modules[torch.optim.Optimizer.__module__]  # torch.optim hides it
        for register, hook in (
            (hooks.register_optimizer_step_pre_hook, self._before_step),
            (hooks.register_optimizer_step_post_hook, self._after_step),
        ):
            patches.on_undo(register(hook).remove)

    def _before_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._scaler is None:
            return
        if any(each is not None for each in (*args[1:], kwargs.get("closure"))):
            name = type(optimizer).__name__
            self._script.refuse(f"{name} is given a closure, which a GradScaler cannot take")
            return
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        with_gradient = [each for each in parameters if each.grad is not None]
        if with_gradient:
            self._scaler.unscale_(optimizer)
        if not all(bool(each.grad.isfinite().all()) for each in with_gradient):
            for each in with_gradient:
                each.grad = None  # the step is left out, as GradScaler.step does

    def _after_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._scaler is not None and self._scaler._per_optimizer_states:
            self._scaler.update()


def _looks_at_gradients(subject: "Subject") -> str | None:
    sources = subject.case.code.sources
    for file in sources.files:
        text = sources.text(file)
        for number, line in enumerate(text.lines if text else [], 1):
            found = next((each for each in _LOOKS if each in line), None)
            if found:
                return (
                    f"{file}:{number} uses {found}: with a GradScaler, the script itself must "
                    "unscale the gradients before that"
                )
    return None


FIX = LossScaling()
