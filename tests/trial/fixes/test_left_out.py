"""Saving, evaluating and logging less often; a callback left out to see what it costs."""

import contextlib
import random
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import needs
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Proposal, Refusal
from stepscope.trial.fixes.inside.less_often import less_often
from stepscope.trial.fixes.stalls import left_out
from stepscope.trial.fixes.subject import Subject
from trial.fixes.recorded import subject_of, with_finding
from trial.scripts import Tried, run_with

torch = needs.module("torch")


def calls_made(every: int | None, count: int) -> list[int]:
    made: list[int] = []

    def make(number: int) -> int:
        made.append(number)
        return number

    function = less_often(make, every, lambda _: None)
    returned = [function(number) for number in range(count)]
    assert all(each in made for each in returned)  # what was returned last
    return made


def test_every_tenth_call_is_made_from_the_first_on() -> None:
    assert calls_made(10, 25) == [0, 10, 20]
    assert calls_made(None, 25) == [0]


@pytest.mark.parametrize(
    ("share", "times"), [(0.03, 10), (0.15, 20), (0.3, 50), (0.6, 200), (0.9, 1_000), (1.0, 1_000)]
)
def test_what_takes_more_is_done_less_often(share: float, times: int) -> None:
    assert left_out.times_less_often(share) == times


def test_it_says_so_at_the_first_call_that_it_leaves_out() -> None:
    said: list[str] = []
    function = less_often(lambda: None, 10, said.append)
    function()
    assert said == []
    function()
    function()
    assert said == ["every 10th call"]


def draws(evaluate: Any) -> tuple[list[float], list[str]]:
    """What a training draws from torch between its evaluations, and what the fix says."""
    torch.manual_seed(0)
    said: list[str] = []
    evaluate = evaluate(said)
    found = []
    for _ in range(5):
        found.append(float(torch.rand(())))
        evaluate()
    return found, said


def loop_over_a_loader() -> None:
    list(torch.utils.data.DataLoader(range(4), shuffle=True))  # draws two seeds


def test_the_training_draws_the_same_numbers_when_a_loaders_seeds_are_left_out() -> None:
    always, _ = draws(lambda _: loop_over_a_loader)
    seldom, said = draws(lambda said: less_often(loop_over_a_loader, 10, said.append))
    assert seldom == always
    assert said == ["every 10th call"]


def test_it_says_whose_random_numbers_it_cannot_make_up_for() -> None:
    _, said = draws(lambda said: less_often(lambda: torch.rand(5000), 10, said.append))
    assert said == ["every 10th call (it draws random numbers of torch)"]
    said.clear()
    function = less_often(lambda: (random.random(), np.random.rand()), None, said.append)
    function()
    function()
    assert said == ["first call only (it draws random numbers of random and numpy)"]


# --- with a real script ---------------------------------------------------------------------------

SAVES = """
    import numpy as np
    import zlib

    def packed(array):
        for _ in range(3):
            data = zlib.compress(array.tobytes(), 6)
        return data

    def save(step):
        with open("checkpoint.bin", "wb") as file:
            file.write(packed(weights))
        saved.append(step)

    def learn():
        for _ in range(20):
            weights[:] -= 0.001 * (weights @ weights.T) / 200
        open("state", "w").close()

    saved = []
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(200, 200))
    for step in range(30):
        learn()
        save(step)
        last = step
    print(f"{weights.sum():.12f}", saved)
"""
FIX = "save-less-often"


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = tmp_path_factory.mktemp("saves") / "train.py"
    script.write_text(textwrap.dedent(SAVES))
    return script


@pytest.fixture(scope="module")
def recorded(script: Path) -> tuple[Subject, Tried]:
    with contextlib.chdir(script.parent):
        return subject_of(script)


def proposed_at(recorded: tuple[Subject, Tried], line: str) -> Proposal | Refusal | None:
    subject = with_finding(recorded[0], "checkpoint-stall", line, share=0.02)
    return fixes.named(FIX).propose(subject)


@pytest.mark.nightly  # processes that load torch
def test_a_script_saves_every_tenth_time_and_trains_the_same(
    script: Path, recorded: tuple[Subject, Tried], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whatever share the saving has here: it is all that the function does.
    subject = with_finding(recorded[0], "checkpoint-stall", "saved.append(step)", share=0.9)
    monkeypatch.setattr(left_out, "_OFTEN", (20,))
    proposal = fixes.named(FIX).propose(subject)
    assert isinstance(proposal, Proposal)
    assert proposal.words == "save does its work at every 20th call"
    assert proposal.patch is not None
    assert "+    if step % 20 == 0:\n+        save(step)" in proposal.patch
    monkeypatch.chdir(tmp_path)
    after = run_with(script, fixes={FIX: proposal.settings}, into=tmp_path / "after")
    weights, _, saved = after.stdout.partition(" ")
    assert (weights, saved) == (recorded[1].stdout.partition(" ")[0], "[0, 20]\n")
    assert after.applied(FIX) == "every 20th call"


@pytest.mark.nightly  # processes that load torch
def test_the_outermost_function_that_does_only_this_is_left_out(
    recorded: tuple[Subject, Tried],
) -> None:
    """The training may use an inner one as well: of an evaluation, the model and the data set."""
    subject = with_finding(recorded[0], "checkpoint-stall", "return data", share=0.9)
    proposal = fixes.named(FIX).propose(subject)
    assert isinstance(proposal, Proposal)
    assert proposal.settings["function"]["function"] == "save"


@pytest.mark.nightly  # processes that load torch
def test_a_function_that_trains_as_well_is_not_left_out(recorded: tuple[Subject, Tried]) -> None:
    refusal = proposed_at(recorded, 'open("state", "w").close()')
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("learn (train.py:15) does more than that")


@pytest.mark.nightly  # processes that load torch
def test_code_at_the_top_level_cannot_be_left_out(recorded: tuple[Subject, Tried]) -> None:
    refusal = proposed_at(recorded, "last = step")
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("train.py:26 is in no function")


@pytest.mark.nightly  # processes that load torch
def test_without_such_a_finding_there_is_nothing_to_do(recorded: tuple[Subject, Tried]) -> None:
    assert fixes.named("evaluate-less-often").propose(recorded[0]) is None


def test_only_the_ceiling_is_one() -> None:
    names = ("save-less-often", "evaluate-less-often", "log-less-often", "skip-callback")
    assert [fixes.named(name).is_ceiling for name in names] == [False, False, False, True]
    assert all(fixes.named(name).keeps == "bits" for name in names)
