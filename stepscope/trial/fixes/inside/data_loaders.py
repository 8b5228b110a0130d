"""torch's DataLoader, made with other arguments than the script gives."""

import functools
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from stepscope.record.frameworks.watching.patches import Patches

MODULE: Final = "torch.utils.data.dataloader"

Arguments = dict[str, Any]


def change_arguments(
    module: ModuleType, patches: Patches, change: Callable[[Arguments], Arguments]
) -> None:
    """`change`: gets the arguments of a loader by name, and returns those to replace. It must not
    raise. A loader's subclasses come through here as well."""
    make = module.DataLoader.__init__
    signature = inspect.signature(make)

    @functools.wraps(make)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            given = signature.bind(self, *args, **kwargs)
        except TypeError:
            make(self, *args, **kwargs)  # it will say what is wrong
            return
        whole = {**_defaults(signature), **given.arguments}
        given.arguments.update(change(whole))
        make(*given.args, **given.kwargs)

    patches.set(module.DataLoader, "__init__", __init__)


def _defaults(signature: inspect.Signature) -> Arguments:
    return {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if parameter.default is not parameter.empty
    }
