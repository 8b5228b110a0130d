"""Saving, evaluating, logging less often where a library or a function that does more does it."""

import contextlib
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import needs
from clean_environment import environment
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Proposal, Refusal
from trial.fixes.recorded import subject_of, with_finding
from trial.scripts import run_with

SAVES_AND_TRAINS = """
    import numpy as np

    def train(steps):
        rng = np.random.default_rng(0)
        weights = rng.normal(size=(400, 400))
        saved = []
        for step in range(steps):
            weights -= 0.001 * (weights @ weights.T) / 200
            np.savez_compressed(f"step{step}.npz", weights=weights)
            print(f"step {step}")
        return weights

    print(f"{train(30).sum():.12f}")
"""


def test_a_function_that_trains_as_well_saves_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(SAVES_AND_TRAINS))
    line = 'np.savez_compressed(f"step{step}.npz", weights=weights)'
    with contextlib.chdir(tmp_path):
        subject, before = subject_of(script)
        found = with_finding(subject, "checkpoint-stall", line, share=0.09)
        proposal = fixes.named("save-less-often").propose(found)
    assert isinstance(proposal, Proposal), proposal
    assert proposal.words == "numpy's savez_compressed does its work at every 10th call"
    (tmp_path / "after").mkdir()
    monkeypatch.chdir(tmp_path / "after")
    after = run_with(
        script, fixes={"save-less-often": proposal.settings}, into=tmp_path / "after" / "run"
    )
    assert (after.stdout, after.stderr) == (before.stdout, "")
    assert after.applied("save-less-often") == "every 10th call"
    saved = sorted(path.name for path in (tmp_path / "after").glob("*.npz"))
    assert saved == ["step0.npz", "step10.npz", "step20.npz"]


def test_what_goes_through_none_of_them_is_refused_as_before(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(SAVES_AND_TRAINS))
    with contextlib.chdir(tmp_path):
        subject, _ = subject_of(script)
        line = "weights -= 0.001 * (weights @ weights.T) / 200"
        found = with_finding(subject, "evaluation-stall", line, share=0.5)
        refusal = fixes.named("evaluate-less-often").propose(found)
    assert isinstance(refusal, Refusal)
    assert "does more than that" in refusal.reason


@pytest.mark.nightly  # two processes that load Lightning
def test_lightnings_own_checkpoints_are_written_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs.require("lightning")
    script = Path(__file__).parents[2] / "programs" / "trial" / "lightning_saves.py"
    monkeypatch.chdir(tmp_path)
    settings = {
        "module": "lightning.pytorch.trainer.trainer",
        "name": "Trainer.save_checkpoint",
        "every": 10,
    }
    plain = run_with(script, fixes={}, into=tmp_path / "plain")
    less = run_with(script, fixes={"save-less-often": settings}, into=tmp_path / "less")
    assert less.applied("save-less-often") == "every 10th call"
    losses, written = plain.stdout.splitlines(), less.stdout.splitlines()
    assert losses[0] == written[0]
    assert (losses[1], written[1]) == ("20 written", "2 written")


LOOKS_THEM_UP = """
import functools, importlib, inspect, sys
from stepscope.trial.fixes.stalls.library_calls import EVALUATES, LOGS, SAVES

for call in (*SAVES, *EVALUATES, *LOGS):
    try:
        module = importlib.import_module(call.module)
    except ModuleNotFoundError:
        continue
    found = inspect.unwrap(functools.reduce(getattr, call.name.split("."), module))
    inside = [cell.cell_contents for cell in getattr(found, "__closure__", None) or ()]
    codes = [each.__code__ for each in (found, *inside) if hasattr(each, "__code__")]
    places = [(code.co_qualname, code.co_filename) for code in codes]
    if places and not any(n == call.name and f.endswith(call.file) for n, f in places):
        print(call.words, places)
"""


@pytest.mark.nightly  # it loads every framework
def test_the_functions_are_where_the_table_says() -> None:
    """In the libraries that are installed; a new version may have moved one."""
    done = subprocess.run(
        [sys.executable, "-c", LOOKS_THEM_UP], env=environment({}), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
