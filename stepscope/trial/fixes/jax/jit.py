"""Compile the update with jax.jit, as a whole instead of operator by operator."""

import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.instead import instead
from stepscope.trial.fixes.inside.user_functions import Place, when_defined

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
        from stepscope.trial.fixes.proposing.step_function import decorator_patch, step_function

        finding = finding_of(subject, "eager-overhead")
        # Keras loads JAX wherever it is installed: what trains is in the finding.
        if finding is None or finding.trial != self.name or "jax" not in subject.frameworks:
            return None
        function = step_function(subject.case, finding.location)
        if isinstance(function, Refusal):
            return function
        return Proposal(
            settings={"function": function.place},
            words=f"jax.jit({function.node.name})",
            patch=decorator_patch(function, "jax", "jax", "{}.jit"),
        )

    def install(self, script: Script, settings: Settings) -> None:
        place = Place.of(settings["function"])

        def wrap(function: FunctionType) -> Callable[..., Any]:
            compiled = sys.modules["jax"].jit(function)
            words = f"jax.jit({function.__name__})"
            return instead(script, compiled, function, place.function, words)

        when_defined(place, wrap, script.patches)


FIX: Final = Jit()
