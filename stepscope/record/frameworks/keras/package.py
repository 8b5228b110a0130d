"""Where things are in Keras 3 and in tf_keras."""

import importlib
import sys
from typing import Any, Final

_OLDEST: Final = 3  # major version


class Package:
    """`keras`: keras or tf_keras."""

    def __init__(self, keras: Any) -> None:
        self.name: str = keras.__name__
        self.version = str(getattr(keras, "__version__", "0"))
        self.is_legacy = self.name == "tf_keras"
        first = self.version.partition(".")[0]
        is_three = first.isdecimal() and int(first) >= _OLDEST
        self.is_too_old = not (self.is_legacy or is_three)
        self.backend = "tensorflow" if self.is_legacy or self.is_too_old else _backend(self.name)

    def module(self, name: str) -> Any:
        """A module below `src`; all that we ask for are loaded with the package."""
        return importlib.import_module(f"{self.name}.src.{name}")

    @property
    def callback_list(self) -> Any:
        where = "callbacks" if self.is_legacy else "callbacks.callback_list"
        return self.module(where).CallbackList

    @property
    def model(self) -> Any:
        return self.module("engine.training" if self.is_legacy else "models.model").Model

    @property
    def trainer(self) -> Any:
        """The class that has `fit`."""
        model = self.model
        return next((kind for kind in model.__mro__ if "fit" in vars(kind)), model)


def _backend(name: str) -> str:
    return str(sys.modules[f"{name}.src.backend.config"].backend())
