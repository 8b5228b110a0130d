"""Trace a tf.function once, for all sizes (reduce_retracing=True) and numbers that it gets."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.instead import instead
from stepscope.trial.fixes.inside.user_functions import Place
from stepscope.trial.fixes.tensorflow.changing_numbers import ChangingNumbers
from stepscope.trial.fixes.tensorflow.graph_functions import Call, replace_calls, twin

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class TfRetracing:
    name: Final = "tf-retracing"
    title: Final = "trace the tf.function once"
    stage: Stage = "graph"
    keeps: Keeps = "rounding"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.traced import patch_for, traced_again

        found = traced_again(subject.case)
        if not found:
            return None
        can_be = [each for each in found if each.can_be_once]
        if not can_be:
            return Refusal(f"{found[0].at} is traced again because {found[0].because}.")
        names = ", ".join(each.node.name for each in can_be)
        return Proposal(
            settings={"functions": [each.place for each in can_be]},
            words=f"tf.function({names}, reduce_retracing=True), numbers as tensors",
            patch="".join(patch_for(each) for each in can_be),
        )

    def install(self, script: Script, settings: Settings) -> None:
        places = [Place.of(each) for each in settings["functions"]]

        def loaded(tensorflow: Any) -> None:
            def make(function: Any, call: Call) -> Callable[..., Any]:
                return _once(script, tensorflow, function, call)

            replace_calls(tensorflow, places, script.patches, make)

        script.when_loaded("tensorflow", loaded)


FIX: Final = TfRetracing()


def _once(script: Script, tensorflow: Any, function: Any, call: Call) -> Callable[..., Any]:
    numbers, general = ChangingNumbers(tensorflow), twin(function, reduce_retracing=True)

    def run(*args: Any, **kwargs: Any) -> Any:
        args_now, kwargs_now = numbers.as_tensors(args, kwargs)
        return call(general, *args_now, **kwargs_now)

    def plain(*args: Any, **kwargs: Any) -> Any:
        return call(function, *args, **kwargs)

    return instead(script, run, plain, function._name, f"{function._name} traced once")
