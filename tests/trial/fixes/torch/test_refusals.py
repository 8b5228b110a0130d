"""What a fix says inside the script where it has nothing to do, or not all of it."""

from pathlib import Path

import pytest

from trial.fixes.torch.trained import Trained, train

_OPTIMIZERS = """
import torch

class Own(torch.optim.SGD):
    def step(self, closure=None):
        return None

class Inherited(torch.optim.RMSprop):
    pass

weights = [torch.zeros(3, requires_grad=True)]
made = MADE
weights[0].sum().backward()
made.step(lambda: weights[0].sum())
print(float(bool(made.defaults.get("fused"))))
print(float(bool(made.defaults.get("foreach"))))
"""


def optimizer(folder: Path, made: str) -> Trained:
    script = folder / "script.py"
    script.write_text(_OPTIMIZERS.replace("MADE", made))
    return train(folder / "run", script, **{"fused-optimizer": {}})


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ("torch.optim.LBFGS(weights)", "LBFGS has no fused version"),
        ("Own(weights)", "Own has a step of the script's own"),
        ("torch.optim.AdamW(weights, fused=True)", "AdamW is fused already"),
    ],
)
def test_an_optimizer_that_cannot_be_fused_stays_and_says_why(
    tmp_path: Path, made: str, reason: str
) -> None:
    found = optimizer(tmp_path, made)
    assert found.tried.refused("fused-optimizer") == reason
    assert found.tried.applied("fused-optimizer") is None


@pytest.mark.parametrize(
    ("made", "applied", "flags"),
    [
        ("torch.optim.AdamW(weights, foreach=False)", "AdamW(fused=True)", [1.0, 0.0]),
        ("torch.optim.Adagrad(weights, 0.1, 0, 0, 0, 1e-9, True)", "Adagrad(fused=True)", [1, 0]),
        ("Inherited(weights)", "Inherited(foreach=True)", [0.0, 1.0]),
        (
            "torch.optim.Adam([{'params': iter(weights)}, {'params': torch.zeros(2)}])",
            "Adam(fused=True)",
            [1.0, 0.0],
        ),
    ],
)
def test_an_optimizer_is_fused_or_else_goes_by_lists(
    tmp_path: Path, made: str, applied: str, flags: list[float]
) -> None:
    found = optimizer(tmp_path, made)
    assert found.tried.applied("fused-optimizer") == applied
    assert found.losses == flags


def test_a_script_that_compiles_itself_is_left_as_it_is(tmp_path: Path) -> None:
    found = train(tmp_path / "run", "pictures.py", "compiled", compile={})
    assert found.tried.refused("compile") == "Net: the script compiles it itself"
    assert found.tried.applied("compile") is None


def test_a_model_that_cannot_be_compiled_runs_as_before(tmp_path: Path) -> None:
    found = train(tmp_path / "run", "pictures.py", "broken-backend", compile={})
    assert "torch.compile fails" in (found.tried.refused("compile") or "")
    assert found.tried.applied("compile") is None
    assert len(found.losses) == 12


@pytest.mark.parametrize("fix", ["tf32", "cudnn-benchmark"])
def test_what_is_for_a_gpu_says_that_there_is_none(tmp_path: Path, fix: str) -> None:
    found = train(tmp_path / "run", "pictures.py", **{fix: {}})
    assert found.tried.refused(fix) == "Net is on the device 'cpu', not on a GPU"
