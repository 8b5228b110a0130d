"""float16 with scaled losses: the logic, on a CPU, and what is refused."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import needs
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Proposal, Refusal
from trial.scripts import run_with

FIX = "mixed-precision-fp16"


def subject(text: str = "", *frameworks: str, gpu: bool = True) -> Any:
    devices = [{"name": "A GPU"}] if gpu else []
    sources = SimpleNamespace(
        files=["train.py"], text=lambda _: SimpleNamespace(lines=text.splitlines())
    )
    case = SimpleNamespace(
        run=SimpleNamespace(system=[{"devices": devices}]), code=SimpleNamespace(sources=sources)
    )
    return SimpleNamespace(case=case, frameworks=frozenset({"torch", *frameworks}))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (subject(gpu=False), "needs a GPU, and this run had none"),
        (subject("", "lightning"), "the trainer scales losses itself"),
        (subject("\ntorch.nn.utils.clip_grad_norm_(p, 1)"), "train.py:2 uses clip_grad_norm_"),
    ],
)
def test_it_is_refused_with_its_reason(asked: Any, words: str) -> None:
    refusal = fixes.named(FIX).propose(asked)
    assert isinstance(refusal, Refusal)
    assert words in refusal.reason


def test_on_a_gpu_it_is_proposed_with_the_lines_to_write() -> None:
    proposal = fixes.named(FIX).propose(subject("loss.backward()"))
    assert isinstance(proposal, Proposal)
    assert "scaler.scale(loss).backward()" in (proposal.patch or "")


SCRIPT = """
import torch

torch.manual_seed(0)
for factor in (1.0, 1e37):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    before, x = model.weight.detach().clone(), torch.rand(8, 4)
    loss = model(x).square().mean() * factor
    gradient = 2 * (x @ before.T + model.bias.detach()).T @ x / 16
    loss.backward()
    optimizer.step()
    after = model.weight.detach()
    print(float((before - gradient - after).abs().max()), torch.equal(before, after))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    needs.require("torch")
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    return script


@pytest.mark.nightly  # a process with torch
def test_losses_are_scaled_for_backward_only_and_an_overflow_costs_the_step(script: Path) -> None:
    tried = run_with(script, fixes={FIX: {"device": "cpu"}}, into=script.parent / "run")
    assert tried.stderr == ""
    first, overflow = [line.split() for line in tried.stdout.splitlines()]
    assert float(first[0]) < 5e-3  # the step sees the gradients unscaled, in the bits of float16
    assert overflow[1] == "True"
    assert tried.applied(FIX) == "autocast around Linear"


@pytest.mark.nightly  # a process with torch
def test_a_model_that_is_not_on_a_gpu_is_refused(script: Path) -> None:
    tried = run_with(script, fixes={FIX: {"device": "cuda"}}, into=script.parent / "run")
    assert tried.refused(FIX) == "Linear is on the device 'cpu', not on a GPU"
