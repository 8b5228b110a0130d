"""What the fixes here have in common: most calls of the named function are left out."""

import dataclasses
from typing import TYPE_CHECKING, Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.less_often import less_often
from stepscope.trial.fixes.inside.user_functions import Place, when_defined

if TYPE_CHECKING:
    from types import FunctionType

    from stepscope.trial.fixes.proposing.named_function import NamedFunction
    from stepscope.trial.fixes.subject import Subject


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """`every`: the calls that are made, from the first on; None: only that one."""

    name: str
    title: str
    findings: tuple[str, ...]
    every: int | None
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
            return function
        if not function.is_plain:
            return Refusal(f"{function.at} is a generator or a coroutine: it cannot be left out.")
        return Proposal(
            settings={"function": function.place, "every": self.every},
            words=self._words(function),
            patch=None if self.is_ceiling else self._patch(subject, function),
        )

    def _words(self, function: "NamedFunction") -> str:
        how_often = "only once" if self.every is None else f"at every {self.every}th call"
        return f"{function.node.name} does its work {how_often}"

    def _patch(self, subject: "Subject", function: "NamedFunction") -> str:
        from stepscope.trial.fixes.proposing.call_sites import called_every

        return called_every(subject.case.code.sources, function, self.every or 1)

    def install(self, script: Script, settings: Settings) -> None:
        every: int | None = settings["every"]

        def wrap(function: "FunctionType") -> Any:
            return less_often(function, every, script.applied)

        when_defined(Place.of(settings["function"]), wrap, script.patches)
