"""Which Keras package is used: there are two names."""

import importlib
import importlib.util
import sys
from typing import Any, Final

_PACKAGES: Final = ("keras", "tf_keras")


def base_callback() -> Any:
    """`Callback` of the package that the script has loaded, else of the one that is installed."""
    name = next((name for name in _PACKAGES if name in sys.modules), None) or _installed()
    return importlib.import_module(f"{name}.callbacks").Callback


def _installed() -> str:
    for name in _PACKAGES:
        if importlib.util.find_spec(name) is not None:
            return name
    raise ImportError(
        "stepscope.keras is for Keras' models, and neither 'keras' nor 'tf_keras' is installed "
        "here: pip install keras."
    )
