"""Leave a callback or metric out after its first call, to see what it costs."""

import dataclasses
import functools
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Proposal, Refusal, Script, Settings
from stepscope.trial.fixes.inside.replayed import replayed
from stepscope.trial.fixes.stalls.left_out import LeftOut

if TYPE_CHECKING:
    from stepscope.analyze.code.sampled_steps import Look
    from stepscope.trial.fixes.subject import Subject

# Packages that only measure: no training goes through them.
_PACKAGES: Final = ("/sklearn/metrics/", "/torchmetrics/")
_MOST: Final = 0.5  # of what the finding is about


@dataclasses.dataclass(frozen=True)
class SkipCallback(LeftOut):
    """The user's function; where that does more, the library's metrics that it calls."""

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.named_function import finding_of

        found = super().propose(subject)
        finding = finding_of(subject, *self.findings)
        if finding is None or not isinstance(found, Refusal) or not finding.location:
            return found
        inside = subject.case.stacks.inside(finding.location)
        if subject.case.stacks.share(filter(_measures, inside)) < _MOST * finding.share:
            return found
        return Proposal({"metrics": True}, f"{finding.library} works only once", patch=None)

    def install(self, script: Script, settings: Settings) -> None:
        if "metrics" not in settings:
            super().install(script, settings)
            return
        script.when_loaded("sklearn.metrics", functools.partial(_replay_functions, script))
        script.when_loaded("torchmetrics.metric", functools.partial(_replay_metrics, script))


FIX: Final = SkipCallback(
    name="skip-callback",
    title="without the code between the passes",
    findings=("host-code",),
    is_ceiling=True,
)


def _measures(look: "Look") -> bool:
    return any(package in frame.function.file for frame in look.frames for package in _PACKAGES)


def _replay_functions(script: Script, metrics: ModuleType) -> None:
    for name in getattr(metrics, "__all__", ()):
        function = getattr(metrics, name)
        if callable(function) and not isinstance(function, type):
            script.patches.set(metrics, name, replayed(function, script.applied))


def _replay_metrics(script: Script, module: ModuleType) -> None:
    """Each metric for itself: it wraps its own methods when it is made."""
    metric = module.Metric
    for name in ("_wrap_update", "_wrap_compute"):
        script.patches.set(metric, name, _wrapping(getattr(metric, name), script))
    forward, calls = metric.forward, {}

    @functools.wraps(forward)
    def replay(self: Any, *args: Any, **kwargs: Any) -> Any:
        if id(self) not in calls:  # the partial keeps it alive, so that its id stays its own
            calls[id(self)] = replayed(functools.partial(forward, self), script.applied)
        return calls[id(self)](*args, **kwargs)

    script.patches.set(metric, "forward", replay)


def _wrapping(wrap: Any, script: Script) -> Any:
    @functools.wraps(wrap)
    def run(self: Any, method: Any) -> Any:
        return replayed(wrap(self, method), script.applied)

    return run
