"""Prepare batches during the steps: map in parallel, and prefetch what comes next."""

import functools
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.tensorflow.pipelines import (
    calls_python,
    dataset_class,
    described,
    draws,
    kind,
)

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class TfData:
    """The order of the elements stays. A stage that draws random numbers is only made parallel if
    it is known to be random: its elements then get each other's numbers."""

    name: Final = "tf-data"
    title: Final = "prepare batches beside the step"
    stage: Stage = "data"
    keeps: Keeps = "bits"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.pipeline_calls import (
            in_parallel,
            makes_pipelines,
            random_in_pipelines,
        )

        sources = subject.case.code.sources
        if not makes_pipelines(sources):
            return None
        is_random = random_in_pipelines(sources) is not None
        return Proposal(
            settings={"random": is_random},
            words="map(num_parallel_calls=AUTOTUNE), prefetch(AUTOTUNE)",
            patch=in_parallel(sources),
            keeps="training" if is_random else None,
        )

    def install(self, script: Script, settings: Settings) -> None:
        def loaded(tensorflow: Any) -> None:
            _map_in_parallel(script, tensorflow, may_draw=settings["random"])
            _prefetch(script, tensorflow)

        script.when_loaded("tensorflow", loaded)


FIX: Final = TfData()


def _map_in_parallel(script: Script, tensorflow: Any, *, may_draw: bool) -> None:
    owner = dataset_class()
    before = vars(owner)["map"]

    @functools.wraps(before)
    def map(self: Any, map_func: Any, num_parallel_calls: Any = None, *args: Any, **kw: Any) -> Any:
        if num_parallel_calls is not None or kw.get("synchronous"):
            return before(self, map_func, num_parallel_calls, *args, **kw)
        found = before(self, map_func, tensorflow.data.AUTOTUNE, *args, **kw)
        # Python code holds the lock, and may depend on the order of its calls.
        if calls_python(found) or (draws(found) and not may_draw):
            return before(self, map_func, None, *args, **kw)
        script.applied(f"map({described(found)}, num_parallel_calls=AUTOTUNE)")
        return found

    script.patches.set(owner, "map", map)


def _prefetch(script: Script, tensorflow: Any) -> None:
    """Where batches are taken; a pipeline that ends with it has it already."""
    owner = dataset_class()
    before = vars(owner)["__iter__"]

    @functools.wraps(before)
    def __iter__(self: Any) -> Any:
        if not tensorflow.executing_eagerly() or _ends_with_prefetch(self):
            return before(self)
        script.applied("prefetch(AUTOTUNE)")
        return before(self.prefetch(tensorflow.data.AUTOTUNE))

    script.patches.set(owner, "__iter__", __iter__)


def _ends_with_prefetch(dataset: Any) -> bool:
    while kind(dataset) in ("Options", "Model"):
        dataset = dataset._inputs()[0]
    return kind(dataset) == "Prefetch"
