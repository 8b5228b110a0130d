"""One graph for all shapes, where the script compiles one for each."""

from pathlib import Path

import pytest

from trial.fixes.torch.trained import train

FIX = "compile-dynamic"
# A framework in every process: fixes on top of each other (test_same_losses.py) are tested by day.
pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("how", ["function", "method"])
def test_a_compiled_model_gets_one_graph_for_all_shapes(tmp_path: Path, how: str) -> None:
    found = train(tmp_path / "run", "shapes.py", how, **{FIX: {}})
    assert found.losses == [1.0]
    assert found.tried.applied(FIX) == "torch.compile(dynamic=True)"


def test_one_that_is_dynamic_already_is_left_as_it_is(tmp_path: Path) -> None:
    found = train(tmp_path / "run", "shapes.py", "already", **{FIX: {}})
    assert found.losses == [1.0]
    assert found.tried.refused(FIX) == "the script compiles with dynamic=True already"
    assert found.tried.applied(FIX) is None


def test_without_the_fix_each_shape_has_a_graph(tmp_path: Path) -> None:
    assert train(tmp_path / "run", "shapes.py").losses == [6.0]
