"""Which rows an option chooses, and the message if it chooses none."""

from pathlib import Path
from typing import Any

import pytest

import hand_made_answers as made
from build import MS, RunBuilder
from stepscope.analyze.code.lines import lines
from stepscope.analyze.run import load
from stepscope.errors import InputError
from stepscope.model import LinesAnswer
from stepscope.show.selection import only, select
from stepscope.views.lines import LINES
from stepscope.views.steps import STEPS


def names(answer: LinesAnswer) -> list[str]:
    return [function.function for function in answer.functions]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, ["get_dataset", "Scaler.scale"]),
        ({"function": ("scale",)}, ["Scaler.scale"]),
        ({"function": ("Scaler.scale",)}, ["Scaler.scale"]),
        ({"function": ("scale", "get_dataset")}, ["get_dataset", "Scaler.scale"]),
        ({"file": ("*.py",)}, ["get_dataset", "Scaler.scale"]),
        ({"sort": "hits"}, ["Scaler.scale", "get_dataset"]),
        ({"sort": "name"}, ["get_dataset", "Scaler.scale"]),
    ],
)
def test_functions_are_chosen_by_name_and_file(chosen: dict[str, Any], expected: list[str]) -> None:
    assert names(select(LINES, made.LINES, chosen)) == expected


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"function": ("ale",)}, "There are: get_dataset (train.py), Scaler.scale (train.py)"),
        ({"file": ("other.py",)}, "No recorded function matches"),
        ({"sort": "colour"}, "It sorts by: time, hits, name"),
    ],
)
def test_a_choice_of_nothing_says_what_there_is(chosen: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        select(LINES, made.LINES, chosen)
    assert words in str(caught.value)


def test_an_empty_answer_stays_an_empty_answer() -> None:
    assert names(select(LINES, LinesAnswer(functions=[]), {"function": ("f",)})) == []


def test_a_process_is_chosen_by_pid_or_rank(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    for pid, rank in ((11, 0), (12, 1)):
        process = builder.process(pid=pid, role="rank", rank=rank)
        code = process.code(f"work_of_rank_{rank}", first_line=10)
        process.lines(code, 10, [(1, MS), (0, 0)])
        process.write(ended_ns=5 * MS)
    run = load(tmp_path / "run")
    assert len(lines(run).functions) == 2
    assert names(lines(only(run, rank=1))) == ["work_of_rank_1"]
    assert names(lines(only(run, process=11))) == ["work_of_rank_0"]
    assert only(run) is run
    with pytest.raises(InputError, match="has no process 13"):
        only(run, process=13)


def test_single_steps_can_be_sorted_by_time() -> None:
    answer = select(STEPS, made.EACH_STEP, {"sort": "time"})
    assert isinstance(answer.each, list)
    assert [step.duration_ns for step in answer.each] == [80_000_000, 21_000_000, 20_000_000]


def test_steps_without_each_have_no_rows_to_choose_from() -> None:
    assert select(STEPS, made.STEPS, {"sort": "time"}) == made.STEPS
