"""What a fix says inside the script where it has nothing to do, or not all of it."""

from pathlib import Path

import pytest

import needs
from trial.fixes.torch.trained import ENVIRONMENT, PROGRAMS, train
from trial.scripts import run_with

# A framework in every process: fixes on top of each other (test_same_losses.py) are tested by day.
pytestmark = pytest.mark.nightly


def test_optimizers_are_fused_or_else_go_by_lists_or_say_why_not(tmp_path: Path) -> None:
    needs.require("torch")
    tried = run_with(PROGRAMS / "optimizers.py", fixes={}, into=tmp_path / "run", env=ENVIRONMENT)
    assert tried.stderr == ""
    assert tried.stdout.splitlines() == [
        "refused: LBFGS has no fused version False",
        "refused: Own has a step of the script's own False",
        "refused: AdamW is fused already True",
        "applied: AdamW(fused=True) True",
        "applied: Adagrad(fused=True) True",
        "applied: Inherited(foreach=True) False",
        "applied: Adam(fused=True) True",
        "applied: SGD(foreach=True) False",  # on a device that has no fused one
        "None",  # undone
    ]


def test_a_script_that_compiles_itself_is_left_as_it_is(tmp_path: Path) -> None:
    found = train(tmp_path / "run", "pictures.py", "compiled", compile={})
    assert found.tried.refused("compile") == "Net: the script compiles it itself"
    assert found.tried.applied("compile") is None


def test_a_model_that_cannot_be_compiled_runs_as_before(tmp_path: Path) -> None:
    found = train(tmp_path / "run", "pictures.py", "broken-backend", compile={})
    assert "torch.compile fails" in (found.tried.refused("compile") or "")
    assert found.tried.applied("compile") is None
    assert len(found.losses) == 12


def test_what_is_for_a_gpu_says_that_there_is_none(tmp_path: Path) -> None:
    found = train(tmp_path / "run", "pictures.py", **{"tf32": {}, "cudnn-benchmark": {}})
    for fix in ("tf32", "cudnn-benchmark"):
        assert found.tried.refused(fix) == "Net is on the device 'cpu', not on a GPU"
