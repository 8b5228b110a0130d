"""Compile the update with jax.jit, as a whole instead of operator by operator."""

import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.instead import compile_when_defined
from stepscope.trial.fixes.inside.user_functions import Place

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class Jit:
    name: Final = "jit"
    title: Final = "compile the update with jax.jit"
    stage: Stage = "graph"
    keeps: Keeps = "rounding"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.named_function import finding_of
        from stepscope.trial.fixes.proposing.step_function import step_function, with_decorator

        finding = finding_of(subject, "eager-overhead")
        # Keras loads JAX wherever it is installed: what trains is in the finding.
        if finding is None or finding.trial != self.name:
            return None
        function = step_function(subject.case, finding.location)
        if isinstance(function, Refusal):
            return function
        return with_decorator(function, "jax", "jax", "{}.jit")

    def install(self, script: Script, settings: Settings) -> None:
        compile_when_defined(script, Place.of(settings["function"]), _jitted, "jax.jit")


FIX: Final = Jit()


def _jitted(function: FunctionType) -> Callable[..., Any]:
    jitted: Callable[..., Any] = sys.modules["jax"].jit(function)
    return jitted
