"""Batches that cost nothing: of a generator of the user's, and of tf.data."""

import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.trial import fixes
from stepscope.trial.fixes.data import free_input
from stepscope.trial.fixes.fix import Proposal, Refusal
from trial.fixes.fake_script import FakeScript
from trial.fixes.recorded import subject_of, with_finding
from trial.scripts import run_with

FIX = "free-input"
GENERATOR = """
    made = 0

    def prepared(number):
        global made
        made += 1
        return [number] * 1000

    def batches(count):
        for number in range(count):
            yield prepared(number)

    total = 0
    for epoch in range(2):
        for batch in batches(10):
            total += sum(batch)
            print(batch[0], end=" ")
    print(made)
"""


def test_a_generator_yields_its_first_items_as_often_as_in_the_recorded_run(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(GENERATOR))
    subject, _ = subject_of(script)
    proposal = fixes.named(FIX).propose(
        with_finding(subject, "input-bound", "yield prepared(number)")
    )
    assert isinstance(proposal, Proposal)
    assert (proposal.settings["items"], proposal.patch) == (10, None)
    tried = run_with(script, fixes={FIX: proposal.settings}, into=tmp_path / "run")
    assert tried.stdout == "0 1 2 3 0 1 2 3 0 1 " * 2 + "4\n"
    assert tried.applied(FIX) == "the first 4 batches, again and again"


def test_without_a_generator_there_is_nothing_to_replay(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("def make():\n    return 1\n\nmake()\n")
    subject, _ = subject_of(script)
    refusal = fixes.named(FIX).propose(with_finding(subject, "input-bound", "return 1"))
    assert isinstance(refusal, Refusal)
    assert "train.py:2 is not in a generator" in refusal.reason


class Dataset:
    """As much of tf.data as the fix touches."""

    def __init__(self, batches: int, cardinality: int) -> None:
        self.batches, self._cardinality = batches, cardinality

    def cardinality(self) -> int:
        return self._cardinality

    def __iter__(self) -> Any:
        return OwnedIterator(self.batches)


class OwnedIterator:
    def __init__(self, batches: int) -> None:
        self._items = iter(range(batches))

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> int:
        return next(self._items)


@pytest.mark.parametrize(
    ("batches", "cardinality", "expected"),
    [
        (7, 7, [0, 1, 2, 3, 0, 1, 2]),
        (3, 3, [0, 1, 2]),
        (7, -2, [0, 1, 2, 3, 4, 5, 6]),  # not known: read as always
    ],
)
def test_tf_data_is_replayed_where_its_length_is_known(
    batches: int, cardinality: int, expected: list[int]
) -> None:
    script = FakeScript()
    free_input._count_tf(script, SimpleNamespace(DatasetV2=Dataset))  # type: ignore[arg-type]  # in
    free_input._replay_tf(script, SimpleNamespace(OwnedIterator=OwnedIterator))  # type: ignore[arg-type]  # of modules
    assert list(Dataset(batches, cardinality)) == expected
    assert bool(script.said) == (expected[4:] == [0, 1, 2])
    script.patches.undo()
