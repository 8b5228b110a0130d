"""What a compiler made of a function, called in the function's place as long as that works."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from stepscope.signal_handlers import let_pass
from stepscope.trial.fixes.fix import Script
from stepscope.trial.fixes.inside.user_functions import Place, Wrap, when_defined


def compile_when_defined(script: Script, place: Place, compiler: Wrap, label: str) -> None:
    """The user's function at `place`, compiled. `label`: what a script calls the compiler."""

    def wrap(function: FunctionType) -> Callable[..., Any]:
        words = f"{label}({function.__name__})"
        return instead(script, compiler(function), function, place.function, words)

    when_defined(place, wrap, script.patches)


def instead(
    script: Script, compiled: Callable[..., Any], plain: Callable[..., Any], name: str, words: str
) -> Callable[..., Any]:
    """Where the compiled one raises, the plain one goes on from there: an error of the script's own
    is raised by that too."""
    failed = False

    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal failed
        if failed:
            return plain(*args, **kwargs)
        try:
            result = compiled(*args, **kwargs)
        except Exception as error:
            let_pass(error)
            failed = True
            script.refuse(f"{name} cannot be compiled: {_summary(error)}")
            return plain(*args, **kwargs)
        script.applied(words)
        return result

    return run


def _summary(error: Exception) -> str:
    """The first line. Where TensorFlow puts the frames of the user's code ahead, the last one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines and lines[0].startswith("in user code"):
        return lines[-1]
    return ": ".join([type(error).__name__, *lines[:1]])
