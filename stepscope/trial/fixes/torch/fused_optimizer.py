"""Updates all parameters in one operator (fused=True), or in a few (foreach=True)."""

import functools
import inspect
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_TOGETHER: Final = ("fused", "foreach")  # the better one first
_FUSED: Final = ("SGD", "Adam", "AdamW", "Adagrad")  # can be


class FusedOptimizer:
    name = "fused-optimizer"
    title = "update all parameters in one operator"
    stage: Stage = "other"
    keeps: Keeps = "rounding"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.worth_a_run import too_little

        if not subject.case.phase_ns("optimizer"):
            return Refusal("no optimizer of torch steps in this script")
        if reason := too_little(subject, "optimizer", "the optimizer's step"):
            return reason
        return Proposal({}, "fused=True (foreach=True where it is not supported)", _patch(subject))

    def install(self, script: Script, settings: Settings) -> None:
        def loaded(torch: Any) -> None:
            for kind in _optimizers(torch):
                _make_fused(torch, kind, script)

        script.when_loaded("torch", loaded)


def _optimizers(torch: Any) -> list[Any]:
    """The base too: optimizers that are written by hand have nothing else of torch."""
    kinds = [each for each in vars(torch.optim).values() if inspect.isclass(each)]
    return [each for each in kinds if issubclass(each, torch.optim.Optimizer)]


def _make_fused(torch: Any, kind: Any, script: Script) -> None:
    plain = kind.__init__
    signature = inspect.signature(plain)
    offered = [each for each in _TOGETHER if each in signature.parameters]

    @functools.wraps(plain)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _torchs_own(self) is not kind:  # AdamW calls Adam's
            return plain(self, *args, **kwargs)
        reason = _reason_against(self, offered, kwargs)
        if reason:
            script.refuse(f"{type(self).__name__} {reason}")
            return plain(self, *args, **kwargs)
        bound = signature.bind(self, *args, **kwargs)
        bound.arguments.update({each: each == offered[0] for each in offered})
        plain(*bound.args, **bound.kwargs)
        used = _without_what_fails(torch, self, offered)
        script.applied(f"{type(self).__name__}({used}=True)")
        return None

    script.patches.set(kind, "__init__", __init__)


def _torchs_own(optimizer: Any) -> Any:
    return next(each for each in type(optimizer).__mro__ if _is_torchs(each))


def _is_torchs(thing: Any) -> bool:
    return str(thing.__module__).startswith("torch.optim.")


def _reason_against(optimizer: Any, offered: list[str], given: dict[str, Any]) -> str | None:
    if not _is_torchs(type(optimizer).step):
        return "has a step of the script's own"
    if not offered:
        return "has no fused version"
    if given.get("fused"):
        return "is fused already"
    if given.get("differentiable"):
        return "is differentiable, which fused is not"
    return None


def _without_what_fails(torch: Any, optimizer: Any, offered: list[str]) -> str:
    """fused=True raises at the first step where a device or a type is not supported."""
    groups = [*optimizer.param_groups, optimizer.defaults]
    tensors = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    if offered[0] != "fused" or all(_is_supported(torch, each) for each in tensors):
        return offered[0]
    for group in groups:
        group.update(fused=False, foreach=True)
    return "foreach"


def _is_supported(torch: Any, tensor: Any) -> bool:
    devices = torch.utils._foreach_utils._get_fused_kernels_supported_devices()
    return tensor.device.type in devices and tensor.is_floating_point()


def _patch(subject: "Subject") -> str:
    from stepscope.trial.fixes.torch.trainers import argument_patch, trainer_patch

    if subject.finding is not None and subject.finding.patch:
        return subject.finding.patch
    by_trainer = trainer_patch(subject, transformers=("optim", '"adamw_torch_fused"'))
    by_hand = argument_patch(subject, _FUSED, ("fused", "True"))
    return by_trainer or by_hand or f"{_made_at(subject)}fused=True  # of the optimizer\n"


def _made_at(subject: "Subject") -> str:
    from stepscope.advise.evidence.user_calls import only_call

    places = [place for name in _FUSED if (place := only_call(subject.case, name))]
    return f"{places[0].file}:{places[0].line}: " if len(places) == 1 else ""


FIX = FusedOptimizer()
