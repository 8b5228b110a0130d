"""The patch for doubles: a diff where the text says all, else the places."""

import ast
from types import SimpleNamespace
from typing import Any, cast

from stepscope.advise.evidence.source import Text
from stepscope.trial.fixes.torch.double_places import patch_of


def case_of(text: str) -> Any:
    known = Text(text.splitlines(), ast.parse(text))
    sources = SimpleNamespace(files=["train.py"], text=lambda _file: known)
    return cast(Any, SimpleNamespace(code=SimpleNamespace(sources=sources)))


def test_types_and_conversions_are_a_diff() -> None:
    text = "torch.set_default_dtype(torch.float64)\nnet = Net().double().to(dtype=torch.double)\n"
    added = [line for line in patch_of(case_of(text)).splitlines() if line.startswith("+")]
    assert added[1:] == [
        "+torch.set_default_dtype(torch.float32)",
        "+net = Net().float().to(dtype=torch.float32)",
    ]


def test_where_arrays_become_tensors_the_places_are_named() -> None:
    text = "x = torch.from_numpy(x)\nlabels = torch.tensor(y, dtype=torch.long)\nnet.double()\n"
    assert patch_of(case_of(text)) == (
        "train.py:1: x = torch.from_numpy(x).float()\ntrain.py:3: net.float()\n"
    )


def test_a_script_that_names_no_type_is_told_where_to_look() -> None:
    assert "NumPy makes 64 bits by default" in patch_of(case_of("train(load())\n"))


def test_a_tensor_that_is_only_asked_for_its_type_is_no_place_to_change() -> None:
    text = "model = Net().to(torch.from_numpy(data).dtype)\n"
    assert patch_of(case_of(text)).startswith("Where arrays become tensors: .float()")
