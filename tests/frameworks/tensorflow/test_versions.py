"""A TensorFlow or Keras that is too old gets one sentence, and is left alone."""

import types
from typing import NoReturn

import pytest

from stepscope.record.frameworks.keras import hooks as keras_hooks
from stepscope.record.frameworks.tensorflow import hooks as tf_hooks
from stepscope.record.frameworks.watching import notes as run_notes
from stepscope.record.frameworks.watching.patches import Patches


class NoPatches(Patches):
    def set(self, owner: object, name: str, value: object) -> NoReturn:
        raise AssertionError(f"{name} of {owner} was changed")


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    noted: list[str] = []
    monkeypatch.setattr(run_notes, "_note", noted.append)
    return noted


@pytest.mark.parametrize("version", ["2.12.1", "2.9.0", "1.15.5"])
def test_an_old_tensorflow(notes: list[str], version: str) -> None:
    module = types.ModuleType("tensorflow")
    module.__dict__["__version__"] = version
    tf_hooks.install(module, NoPatches())
    assert notes == [
        f"TensorFlow {version} is too old to be watched (2.13 or later is needed): its steps are "
        "found by their loop, and they have no phases."
    ]


def test_an_old_keras(notes: list[str]) -> None:
    module = types.ModuleType("keras")
    module.__dict__["__version__"] = "2.15.0"
    keras_hooks.install(module, NoPatches())
    assert notes == [
        "Keras 2.15.0 is too old to be watched (Keras 3 or tf_keras is needed): its steps are "
        "found by their loop, and they have no phases."
    ]
