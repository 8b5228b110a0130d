"""What the fixes here have in common: most calls of the named function are left out."""

import dataclasses
import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.less_often import less_often
from stepscope.trial.fixes.inside.user_functions import Place, when_defined
from stepscope.trial.fixes.stalls.library_calls import LibraryCall, library_call

if TYPE_CHECKING:
    from stepscope.model.findings import Finding
    from stepscope.record.frameworks.watching.patches import Patches
    from stepscope.trial.fixes.proposing.named_function import NamedFunction
    from stepscope.trial.fixes.subject import Subject


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """`every`: the calls that are made, from the first on; None: only that one."""

    name: str
    title: str
    findings: tuple[str, ...]
    every: int | None
    library: tuple[LibraryCall, ...] = ()  # where the user's function does more than that
    stage: Stage = "other"
    keeps: Keeps = "bits"

    @property
    def is_ceiling(self) -> bool:
        """Work that is never done again is what the best fix could give, not a fix."""
        return self.every is None

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.left_out_function import left_out_function
        from stepscope.trial.fixes.proposing.named_function import finding_of

        finding = finding_of(subject, *self.findings)
        if finding is None:
            return None
        function = left_out_function(subject.case, finding.location, finding.share)
        if isinstance(function, Refusal):
            return self._of_library(subject, finding) or function
        if not function.is_plain:
            return Refusal(f"{function.at} is a generator or a coroutine: it cannot be left out.")
        return Proposal(
            settings={"function": function.place, "every": self.every},
            words=self._words(function.node.name),
            patch=None if self.is_ceiling else self._patch(subject, function),
        )

    def _of_library(self, subject: "Subject", finding: "Finding") -> Proposal | None:
        call = library_call(subject.case, finding, self.library)
        if call is None:
            return None
        settings = {"module": call.module, "name": call.name, "every": self.every}
        return Proposal(settings, self._words(call.words), f"# {call.advice}\n")

    def _words(self, function: str) -> str:
        how_often = "only once" if self.every is None else f"at every {self.every}th call"
        return f"{function} does its work {how_often}"

    def _patch(self, subject: "Subject", function: "NamedFunction") -> str:
        from stepscope.trial.fixes.proposing.call_sites import called_every

        return called_every(subject.case.code.sources, function, self.every or 1)

    def install(self, script: Script, settings: Settings) -> None:
        def wrap(function: Callable[..., Any]) -> Any:
            return less_often(function, settings["every"], script.applied)

        if "module" in settings:
            script.when_loaded(
                settings["module"],
                lambda module: _replace(module, settings["name"], wrap, script.patches),
            )
        else:
            when_defined(Place.of(settings["function"]), wrap, script.patches)


def _replace(module: ModuleType, name: str, wrap: Callable[[Any], Any], patches: "Patches") -> None:
    """`name`: a function, or a class and its method."""
    path, _, attribute = name.rpartition(".")
    owner = functools.reduce(getattr, path.split("."), module) if path else module
    patches.set(owner, attribute, wrap(getattr(owner, attribute)))
