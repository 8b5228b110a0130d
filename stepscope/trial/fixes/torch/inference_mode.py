"""Evaluates in torch.inference_mode, which keeps less than torch.no_grad for a backward pass.

Only calls of models in evaluation mode that need no gradient. Their results are copied into usual
tensors, since those of inference mode may not be used in training any more.
"""

import ast
from typing import TYPE_CHECKING, Any

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.torch.results import each_tensor
from stepscope.trial.fixes.torch.root_calls import Call, Place, add_layer

if TYPE_CHECKING:
    from stepscope.advise.evidence.source import Function, Text
    from stepscope.trial.fixes.subject import Subject


class InferenceMode:
    name = "inference-mode"
    title = "evaluate in inference mode"
    stage: Stage = "other"
    keeps: Keeps = "bits"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        if not subject.case.phase_ns("evaluation"):
            return Refusal("no evaluation was seen between the steps")
        return Proposal({}, "torch.inference_mode()", _patch(subject))

    def install(self, script: Script, settings: Settings) -> None:
        def loaded(torch: Any) -> None:
            add_layer(
                torch, script.patches, Place.INFERENCE, lambda call: _around(torch, script, call)
            )

        script.when_loaded("torch", loaded)


def _around(torch: Any, script: Script, call: Call) -> Call:
    def run(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if module.training or torch.is_grad_enabled() or torch.is_inference_mode_enabled():
            return call(module, args, kwargs)
        with torch.inference_mode():
            result = call(module, args, kwargs)
        script.applied(f"inference mode around {type(module).__name__}")
        return each_tensor(torch, result, lambda tensor: _usual(tensor))

    return run


def _usual(tensor: Any) -> Any:
    """A view of an input is a usual tensor already."""
    return tensor.clone() if tensor.is_inference() else tensor


def _patch(subject: "Subject") -> str:
    """In functions that call eval() themselves."""
    from stepscope.advise.evidence.patch import diff

    sources = subject.case.code.sources
    for file in sources.files:
        text = sources.text(file)
        found = text and diff(file, text.lines, _changed(text))
        if found:
            return found
    return "with torch.inference_mode():  # instead of torch.no_grad(), in the evaluation\n"


def _changed(text: "Text") -> list[str]:
    after = list(text.lines)
    for function in filter(_evaluates, text.functions()):
        first = min([each.lineno for each in function.decorator_list], default=function.lineno)
        for row in range(first - 1, function.end_lineno or first):
            after[row] = after[row].replace("torch.no_grad()", "torch.inference_mode()")
    return after


def _evaluates(function: "Function") -> bool:
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".eval")
        for node in ast.walk(function)
    )


FIX = InferenceMode()
