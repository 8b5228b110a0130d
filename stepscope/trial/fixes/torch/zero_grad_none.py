"""Drops gradients instead of filling them with zeros (zero_grad(set_to_none=True))."""

import functools
from typing import TYPE_CHECKING, Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class ZeroGradNone:
    name = "zero-grad-none"
    title = "drop gradients instead of zeroing them"
    stage: Stage = "other"
    keeps: Keeps = "bits"  # an optimizer also leaves out parameters that got no gradient at all
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        patch = _patch(subject)
        if patch is None:
            return Refusal("zero_grad drops gradients by default, and no line asks for zeros")
        return Proposal({}, "zero_grad(set_to_none=True)", patch)

    def install(self, script: Script, settings: Settings) -> None:
        def loaded(torch: Any) -> None:
            for kind in (torch.optim.Optimizer, torch.nn.Module):
                _drop_in(kind, script)

        script.when_loaded("torch", loaded)


def _drop_in(kind: Any, script: Script) -> None:
    plain = kind.zero_grad

    @functools.wraps(plain)
    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        if not set_to_none:
            script.applied(f"{type(self).__name__}.zero_grad(set_to_none=True)")
        plain(self)

    script.patches.set(kind, "zero_grad", zero_grad)


def _patch(subject: "Subject") -> str | None:
    from stepscope.advise.evidence.patch import diff

    sources = subject.case.code.sources
    for file in sources.files:
        text = sources.text(file)
        lines = text.lines if text else []
        after = [line.replace("set_to_none=False", "set_to_none=True") for line in lines]
        found = diff(file, lines, after)
        if found:
            return found
    return None


FIX = ZeroGradNone()
