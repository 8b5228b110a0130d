"""Compiles once for all shapes (dynamic=True), where each new shape is compiled again."""

import functools
from typing import TYPE_CHECKING, Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class CompileDynamic:
    name = "compile-dynamic"
    title = "compile once for all shapes"
    stage: Stage = "compile"
    keeps: Keeps = "rounding"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        found = [each for each in subject.advice.findings if each.id == "recompilation"]
        if not found:
            return Refusal("nothing is compiled again after the warm-up")
        return Proposal({}, "dynamic=True", _patch(subject))

    def install(self, script: Script, settings: Settings) -> None:
        """`nn.Module.compile` and the decorator call torch.compile too."""

        def loaded(torch: Any) -> None:
            plain = torch.compile

            @functools.wraps(plain)
            def compile(*args: Any, **kwargs: Any) -> Any:
                if kwargs.get("dynamic") is True:
                    script.refuse("the script compiles with dynamic=True already")
                else:
                    script.applied("torch.compile(dynamic=True)")
                return plain(*args, **{**kwargs, "dynamic": True})

            script.patches.set(torch, "compile", compile)

        script.when_loaded("torch", loaded)


def _patch(subject: "Subject") -> str:
    from stepscope.advise.evidence.patch import with_argument

    sources = subject.case.code.sources
    for file in sources.files:
        text = sources.text(file)
        found = text and with_argument(
            file, text, lambda called: called == "compile", "dynamic", "True"
        )
        if found:
            return found
    return "torch.compile(..., dynamic=True)\n"


FIX = CompileDynamic()
