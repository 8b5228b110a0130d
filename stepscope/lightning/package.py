"""Which Lightning package is used: there are two, and a trainer only takes its own profilers."""

import importlib
import importlib.util
import sys
from typing import Any, Final

_PACKAGES: Final = ("lightning.pytorch", "pytorch_lightning")


def base_profiler() -> Any:
    return importlib.import_module(f"{_package()}.profilers").Profiler


def base_callback() -> Any:
    return importlib.import_module(f"{_package()}.callbacks").Callback


def _package() -> str:
    """The one that the script has loaded, else the one that is installed."""
    return next((name for name in _PACKAGES if name in sys.modules), None) or _installed()


def filesystem_of(base: Any, path: str) -> Any:
    """Where this path is: a trainer's folder may be in the cloud."""
    return sys.modules[base.__module__].get_filesystem(path)


def module_names(base: Any, module: Any) -> Any:
    """A context in which the modules inside this one are named in torch's traces."""
    profilers = base.__module__.rpartition(".")[0]
    return importlib.import_module(f"{profilers}.pytorch").RegisterRecordFunction(module)


def _installed() -> str:
    for name in _PACKAGES:
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            return name
    raise ImportError(
        "stepscope.lightning is for Lightning's trainers, and neither 'lightning' nor "
        "'pytorch_lightning' is installed here: pip install lightning."
    )
