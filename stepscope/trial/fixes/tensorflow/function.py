"""Put the step into a tf.function, so that the graph launches its operators and not Python."""

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.instead import compile_when_defined
from stepscope.trial.fixes.inside.user_functions import Place
from stepscope.trial.fixes.keras import compile_arguments
from stepscope.trial.fixes.tensorflow.changing_numbers import ChangingNumbers

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_EAGERLY: Final = "run_eagerly"
_CALLED_BY_KERAS: Final = ("train_step", "call")  # methods of the script's own classes


class TfFunction:
    """In Keras, without the run_eagerly=True that keeps it out of a graph."""

    name: Final = "tf-function"
    title: Final = "put the step into a tf.function"
    stage: Stage = "graph"
    keeps: Keeps = "rounding"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.named_function import finding_of

        finding = finding_of(subject, "eager-overhead")
        # JAX may only be fed by tf.data: what trains is in the finding.
        if finding is None or finding.trial != self.name:
            return None
        by_keras = _without_run_eagerly(subject)
        return by_keras or _of_function(subject, finding.location)

    def install(self, script: Script, settings: Settings) -> None:
        if settings.get(_EAGERLY) is False:
            compile_arguments.change(script, functools.partial(_in_graph, script))
            return
        compile_when_defined(script, Place.of(settings["function"]), _graph_of, "tf.function")


FIX: Final = TfFunction()


def _graph_of(function: FunctionType) -> Callable[..., Any]:
    tensorflow = sys.modules["tensorflow"]
    graph, numbers = tensorflow.function(function), ChangingNumbers(tensorflow)

    def run(*args: Any, **kwargs: Any) -> Any:
        args_now, kwargs_now = numbers.as_tensors(args, kwargs)
        return graph(*args_now, **kwargs_now)

    return run


def _in_graph(script: Script, arguments: dict[str, Any]) -> dict[str, Any]:
    if not arguments.get(_EAGERLY):
        return {}
    script.applied("compile(run_eagerly=False)")
    return {_EAGERLY: False}


# --- outside --------------------------------------------------------------------------------------


def _of_function(subject: "Subject", location: Any) -> Proposal | Refusal:
    from stepscope.trial.fixes.proposing.step_function import step_function, with_decorator
    from stepscope.trial.fixes.proposing.traceable import draws_in_graph

    function = step_function(subject.case, location)
    if isinstance(function, Refusal):
        return function
    keeps: Keeps | None = "training" if draws_in_graph(subject.case, function) else None
    return with_decorator(function, "tensorflow", "tf", "{}.function", keeps)


def _without_run_eagerly(subject: "Subject") -> Proposal | Refusal | None:
    from stepscope.trial.fixes.proposing.compile_calls import compile_with, may_set

    if not may_set(subject.case.code.sources, _EAGERLY, unless=("False", "None")):
        return None
    reason = _needs_python(subject)
    if reason is not None:
        return Refusal(f"The script needs run_eagerly=True: {reason}.")
    return Proposal(
        settings={_EAGERLY: False},
        words="compile(run_eagerly=False)",
        patch=compile_with(subject.case.code.sources, _EAGERLY, "False"),
    )


def _needs_python(subject: "Subject") -> str | None:
    """What of the script's own that Keras calls in a step cannot be in a graph."""
    from stepscope.model import Location
    from stepscope.trial.fixes.proposing.named_function import named_function
    from stepscope.trial.fixes.proposing.traceable import why_not

    sources = subject.case.code.sources
    for file in sources.files:
        text = sources.text(file)
        for node in text.functions() if text else ():
            if node.name in _CALLED_BY_KERAS:
                place = Location(file=file, line=node.body[0].lineno, function=node.name)
                function = named_function(subject.case, place)
                reason = None if isinstance(function, Refusal) else why_not(subject.case, function)
                if reason is not None:
                    return reason
    return None
