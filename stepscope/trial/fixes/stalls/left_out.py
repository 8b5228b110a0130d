"""What the fixes here have in common: most calls of the named function are left out."""

import dataclasses
import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.less_often import less_often
from stepscope.trial.fixes.inside.user_functions import Place, when_defined
from stepscope.trial.fixes.stalls.library_calls import LibraryCall, library_call

if TYPE_CHECKING:
    from stepscope.model.findings import Finding
    from stepscope.record.frameworks.watching.patches import Patches
    from stepscope.trial.fixes.proposing.named_function import NamedFunction
    from stepscope.trial.fixes.subject import Subject


# What is done less often should cost this share of the step at most.
_STILL: Final = 0.01
_OFTEN: Final = (10, 20, 50, 100, 200, 500, 1_000)  # times less often


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """As many calls are left out as it takes; of a ceiling all but the first. Work that is never
    done again is what the best fix could give, not a fix."""

    name: str
    title: str
    findings: tuple[str, ...]
    library: tuple[LibraryCall, ...] = ()  # where the user's function does more than that
    # Of a function that another finding names: it is for this fix if it was seen to do this.
    phase: str | None = None
    is_ceiling: bool = False
    stage: Stage = "other"
    keeps: Keeps = "bits"

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.left_out_function import (
            has_phase,
            left_out_function,
            share_of,
        )
        from stepscope.trial.fixes.proposing.named_function import finding_of

        finding = finding_of(subject, *self.findings)
        if finding is None:
            return None
        function = left_out_function(
            subject.case, finding.location, finding.share, is_ceiling=self.is_ceiling
        )
        is_its_own = finding.id in self.findings
        if isinstance(function, Refusal):
            return (self._of_library(subject, finding) if is_its_own else None) or function
        if not is_its_own and not has_phase(subject.case, function, self.phase):
            return None
        if not function.is_plain:
            return Refusal(f"{function.at} is a generator or a coroutine: it cannot be left out")
        every = self._every(max(finding.share, share_of(subject.case, function)))
        return Proposal(
            settings={"function": function.place, "every": every},
            words=self._words(function.node.name, every),
            patch=_patch(subject, function, every) if every is not None else None,
        )

    def _every(self, share: float) -> int | None:
        return None if self.is_ceiling else times_less_often(share)

    def _of_library(self, subject: "Subject", finding: "Finding") -> Proposal | None:
        call = library_call(subject.case, finding, self.library)
        if call is None:
            return None
        every = self._every(finding.share)
        settings = {"module": call.module, "name": call.name, "every": every}
        return Proposal(
            settings, self._words(call.words, every), f"# {call.advice.format(every=every)}\n"
        )

    def _words(self, function: str, every: int | None) -> str:
        how_often = "only once" if every is None else f"at every {every}th call"
        return f"{function} does its work {how_often}"

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


def times_less_often(share: float) -> int:
    """For what takes this share of the step now."""
    beside_the_rest = share / max(1e-9, 1 - share)
    return next((each for each in _OFTEN if beside_the_rest / each <= _STILL), _OFTEN[-1])


def _patch(subject: "Subject", function: "NamedFunction", every: int) -> str:
    from stepscope.trial.fixes.proposing.call_sites import called_every

    return called_every(subject.case.code.sources, function, every)


def _replace(module: ModuleType, name: str, wrap: Callable[[Any], Any], patches: "Patches") -> None:
    """`name`: a function, or a class and its method."""
    path, _, attribute = name.rpartition(".")
    owner = functools.reduce(getattr, path.split("."), module) if path else module
    patches.set(owner, attribute, wrap(getattr(owner, attribute)))
