"""Compiles the script's models with torch.compile."""

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

from stepscope.signal_handlers import let_pass
from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.torch.root_calls import Call, Place, add_layer

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class Compile:
    name = "compile"
    title = "compile the model with torch.compile"
    stage: Stage = "compile"
    keeps: Keeps = "rounding"
    is_ceiling = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        reason = _compiles_already(subject) or _no_compiler()
        if reason:
            return Refusal(reason)
        dynamic = True if _batches_differ(subject) else None
        arguments = ", dynamic=True" if dynamic else ""
        return Proposal(
            {"dynamic": dynamic}, f"torch.compile(model{arguments})", _patch(subject, arguments)
        )

    def install(self, script: Script, settings: Settings) -> None:
        def loaded(torch: Any) -> None:
            models = _Models(torch, script, settings.get("dynamic"))
            add_layer(torch, script.patches, Place.COMPILED, models.around)

        script.when_loaded("torch", loaded)


class _Models:
    """Each model as it is called now, by id; kept alive, so that no id is used twice."""

    def __init__(self, torch: Any, script: Script, dynamic: bool | None) -> None:
        self._torch, self._script, self._dynamic = torch, script, dynamic
        self._calls: dict[int, tuple[Any, Any]] = {}

    def around(self, call: Call) -> Call:
        def compiled_call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if id(module) not in self._calls:
                return self._first(call, module, args, kwargs)
            compiled = self._calls[id(module)][1]
            if compiled is None:  # by identity: a module may have a length
                return call(module, args, kwargs)
            return compiled(*args, **kwargs)

        return compiled_call

    def _first(self, call: Call, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if hasattr(module, "_orig_mod") or module._compiled_call_impl is not None:
            return self._left(call, module, "the script compiles it itself")(module, args, kwargs)
        # Inductor's own random numbers would make another dropout than the script has.
        options = {"fallback_random": True}
        compiled = self._torch.compile(module, dynamic=self._dynamic, options=options)
        try:
            result = compiled(*args, **kwargs)
        except Exception as error:
            let_pass(error)
            if not _is_compilers(error):
                raise
            why = f"torch.compile fails: {_first_line(error)}"
            return self._left(call, module, why)(module, args, kwargs)
        self._calls[id(module)] = module, compiled
        self._script.applied(f"compiled {_name(module)}")
        return result

    def _left(self, call: Call, module: Any, reason: str) -> Call:
        """As the script has it."""
        self._calls[id(module)] = module, None
        self._script.refuse(f"{_name(module)}: {reason}")
        return call


def _is_compilers(error: Exception) -> bool:
    """The script's own errors pass through the compiled function as they are."""
    dynamo = sys.modules.get("torch._dynamo.exc")
    inductor = sys.modules.get("torch._inductor.exc")
    kinds = (
        getattr(dynamo, "TorchDynamoException", None),
        getattr(inductor, "InductorError", None),
        getattr(inductor, "CppCompileError", None),
    )
    return isinstance(error, tuple(kind for kind in kinds if kind is not None))


def _name(module: Any) -> str:
    return type(getattr(module, "_orig_mod", module)).__name__


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# --- outside --------------------------------------------------------------------------------------


def _compiles_already(subject: "Subject") -> str | None:
    from stepscope.store.format import SpanCategory

    process = subject.case.process
    numbers = process.spans.of(SpanCategory.COMPILE).name.tolist()
    names = [
        process.names.spans[number].name for number in numbers if number in process.names.spans
    ]
    return f"the script compiles already: {names[-1].partition(';')[0]}" if names else None


def _no_compiler() -> str | None:
    """Inductor writes C++ for the CPU, and Triton's launchers need a compiler too."""
    wanted = os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")
    if shutil.which(wanted):
        return None
    return f"torch.compile needs a C++ compiler, and {wanted} is not there (CXX names another)"


def _batches_differ(subject: "Subject") -> bool:
    """The last batch of an epoch is smaller: a graph for one size would be compiled again."""
    samples = subject.case.steps.samples
    return len({size for size in samples.tolist() if size}) > 1


def _patch(subject: "Subject", arguments: str) -> str:
    from stepscope.advise.evidence.model_call import model_call

    # Not `model.compile()`, which does nothing for a model that is all torch's own (nn.Sequential).
    line = f"{{model}} = torch.compile({{model}}{arguments})"
    call = model_call(subject.case)
    found = call and call.after_assignment(line)
    return found or f"{line.format(model='model')}  # once, when the model is made\n"


FIX = Compile()
