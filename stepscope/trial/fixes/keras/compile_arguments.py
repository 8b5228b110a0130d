"""The arguments of Keras' `compile`, changed on their way."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

from stepscope.trial.fixes.fix import Script

PACKAGES: Final = ("keras", "tf_keras")
Change = Callable[[dict[str, Any]], dict[str, Any]]  # all arguments to those that are set anew


def change(script: Script, changed: Change) -> None:
    for package in PACKAGES:
        script.when_loaded(package, lambda keras: _watch(keras, script, changed))


def _watch(keras: Any, script: Script, changed: Change) -> None:
    owner = next(kind for kind in keras.Model.__mro__ if "compile" in vars(kind))
    before = vars(owner)["compile"]
    signature = inspect.signature(before)

    @functools.wraps(before)
    def compile(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError:  # the script's own mistake: Keras says it better
            return before(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        for name, value in changed(given).items():
            bound.arguments[name] = value
        return before(*bound.args, **bound.kwargs)

    script.patches.set(owner, "compile", compile)
