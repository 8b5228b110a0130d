"""Larger batches: samples a second are what counts, and it is another training."""

from pathlib import Path

import pytest

import needs
from stepscope.trial import fixes
from stepscope.trial.fixes.data.larger_batch import FIX
from stepscope.trial.loss_check import is_as_promised
from stepscope.trial.mean_step import samples_in_step
from trial import trying
from trial.scripts import run_with

_SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
data = TensorDataset(torch.randn(1600, 8), torch.randint(0, 2, (1600,)))
model = nn.Sequential(*(nn.Linear(8, 8) for _ in range(10)), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
sizes = set()
for epoch in range(4):
    for x, y in DataLoader(data, batch_size=16):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sizes.add(len(x))
print(sizes)
"""


def _written(folder: Path) -> Path:
    needs.require("torch")
    script = folder / "script.py"
    script.write_text(_SCRIPT)
    return script


def test_it_is_never_called_the_same_training() -> None:
    assert FIX.keeps == "training"
    assert is_as_promised(FIX.keeps, "different", own_runs_vary=False)
    assert list(fixes.FILES.values())[-1] == FIX.name  # nothing is tried on top of it


def test_batches_are_twice_as_large(tmp_path: Path) -> None:
    tried = run_with(
        _written(tmp_path), fixes={"larger-batch": {"times": 2}}, into=tmp_path / "run"
    )
    assert tried.stdout.strip() == "{32}"
    assert tried.applied("larger-batch") == "batch_size=32 instead of 16"
    assert samples_in_step(str(tried.run)) == 32


@pytest.mark.nightly  # half a minute
def test_its_gain_is_that_of_samples_a_second(tmp_path: Path) -> None:
    """Ten layers of eight: a step takes as long with 32 samples as with 16."""
    _written(tmp_path)
    answer = trying.answered("--fixes", "larger-batch", "--rounds", "2", "script.py", cwd=tmp_path)
    rung = trying.by_fix(answer)["larger-batch"]
    assert rung["speedup"] > 1.3, rung
    assert rung["loss"]["same"] is not True
    assert "another training" in rung["loss"]["words"]
    assert "batch_size=32" in rung["patch"]
