"""Compile the step's graph with XLA (jit_compile=True)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.instead import instead
from stepscope.trial.fixes.inside.user_functions import Place
from stepscope.trial.fixes.keras import compile_arguments
from stepscope.trial.fixes.tensorflow.graph_functions import Call, replace_calls, twin

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_JIT: Final = "jit_compile"


class TfXla:
    """The functions that the script makes into graphs, those that tf-function puts into one, and
    Keras' own. XLA wants sizes that stay: other ones are compiled again, which takes seconds."""

    name: Final = "tf-xla"
    title: Final = "compile the graph with XLA"
    stage: Stage = "compile"
    keeps: Keeps = "rounding"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.compile_calls import calls, compile_with
        from stepscope.trial.fixes.proposing.traced import traced

        sources = subject.case.code.sources
        if any(True for _ in calls(sources, "fit")):
            words = "compile(jit_compile=True)"
            return Proposal({"keras": True}, words, compile_with(sources, _JIT, "True"))
        found = [each.place for each in traced(subject.case)] or _to_become_graphs(subject)
        if not found:
            return None
        names = ", ".join(each["function"] for each in found)
        return Proposal(
            {"functions": found},
            f"tf.function({names}, jit_compile=True)",
            f"@tf.function(jit_compile=True)  # {names}\n",
        )

    def install(self, script: Script, settings: Settings) -> None:
        if settings.get("keras"):
            compile_arguments.change(script, lambda arguments: _with_xla(script, arguments))
            return
        places = [Place.of(each) for each in settings["functions"]]

        def loaded(tensorflow: Any) -> None:
            def make(function: Any, call: Call) -> Callable[..., Any]:
                return _compiled(script, function, call)

            replace_calls(tensorflow, places, script.patches, make)

        script.when_loaded("tensorflow", loaded)


FIX: Final = TfXla()


def _compiled(script: Script, function: Any, call: Call) -> Callable[..., Any]:
    def plain(*args: Any, **kwargs: Any) -> Any:
        return call(function, *args, **kwargs)

    if function._jit_compile is not None:
        return plain  # the script has decided about it
    by_xla = twin(function, jit_compile=True)

    def run(*args: Any, **kwargs: Any) -> Any:
        return call(by_xla, *args, **kwargs)

    return instead(script, run, plain, function._name, f"{function._name} compiled with XLA")


def _with_xla(script: Script, arguments: dict[str, Any]) -> dict[str, Any]:
    if arguments.get(_JIT) not in (None, "auto") or arguments.get("run_eagerly"):
        return {}
    script.applied("compile(jit_compile=True)")
    return {_JIT: True}


def _to_become_graphs(subject: "Subject") -> list[dict[str, Any]]:
    """The function that tf-function would put into a graph."""
    from stepscope.trial.fixes.tensorflow.function import FIX as TF_FUNCTION

    proposal = TF_FUNCTION.propose(subject)
    place = proposal.settings.get("function") if isinstance(proposal, Proposal) else None
    return [place] if place else []
