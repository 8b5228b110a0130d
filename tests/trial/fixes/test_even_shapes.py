"""Batches in the shape of the first: what one shape for all would give, never a fix."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import needs
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Proposal
from trial.fixes.fake_script import FakeScript
from trial.scripts import run_with

FIX = "even-shapes"


@pytest.fixture
def script() -> Any:
    script = FakeScript()
    yield script
    script.patches.undo()


def test_it_is_proposed_where_something_is_compiled_again() -> None:
    fix = fixes.named(FIX)
    again: Any = SimpleNamespace(id="recompilation")
    advice = SimpleNamespace(findings=[again])
    asked: Any = SimpleNamespace(finding=None, advice=advice, frameworks=frozenset({"jax"}))
    proposal = fix.propose(asked)
    assert isinstance(proposal, Proposal)
    assert "mask" in (proposal.patch or "")
    assert fix.is_ceiling
    asked.frameworks = frozenset({"tensorflow"})
    assert fix.propose(asked) is None


JITTED = """
import jax
import numpy as np

@jax.jit
def inner(x):
    return x.sum()

@jax.jit
def step(weights, x, scale):
    print("traced for", x.shape)
    return weights * inner(x) * scale

for length in (4, 3, 6):
    assert step(jax.numpy.ones(2), np.ones((length, 5), np.float32), 0.5).shape == (2,)
assert step.lower is not None
"""


@pytest.mark.nightly  # a process with JAX
def test_a_jitted_function_is_compiled_for_the_first_shape_only(tmp_path: Path) -> None:
    needs.require("jax")
    path = tmp_path / "train.py"
    path.write_text(JITTED)
    tried = run_with(path, fixes={FIX: {}}, into=tmp_path / "run")
    assert tried.status == 0, tried.stderr
    assert tried.stdout == "traced for (4, 5)\n"
    assert tried.applied(FIX) == "(3, 5) as (4, 5)"


def test_the_batches_of_a_loader_get_the_shape_of_its_first(script: FakeScript) -> None:
    needs.require("torch")
    import torch
    from torch.utils.data import DataLoader

    fixes.named(FIX).install(script, {})
    rows = [(torch.arange(6.0), index) for index in range(10)]
    loaded = [(x.shape, y.tolist()) for x, y in DataLoader(rows, batch_size=4)]  # type: ignore[arg-type]
    assert loaded == [
        ((4, 6), [0, 1, 2, 3]),
        ((4, 6), [4, 5, 6, 7]),
        ((4, 6), [8, 9, 8, 9]),
    ]
    assert script.said == ["applied: (2, 6) as (4, 6)", "applied: (2,) as (4,)"]
