"""What a trial keeps of itself, to go on later."""

import os
from pathlib import Path

import pytest

from stepscope.errors import InputError
from stepscope.trial.state import STATE_FILE, State, Wanted, resume


def test_the_command_line_with_its_secrets_is_for_its_user_alone(tmp_path: Path) -> None:
    """It is run again as it was typed, so nothing in it is masked."""
    words = ["train.py", "-k", "SECRET"]
    State(Wanted(words=words, cwd=os.getcwd(), rounds=5), str(tmp_path)).save()
    assert (tmp_path / STATE_FILE).stat().st_mode & 0o777 == 0o600
    typed = Wanted(words=[str(tmp_path), *words], cwd=os.getcwd(), rounds=5)
    assert resume(typed, nobody).wanted.words == words


def nobody(command: str) -> bool:
    """Who answers where nobody can."""
    return False


def resumed(folder: Path, words: list[str], *, module: bool = False) -> State:
    typed = Wanted(words=[str(folder), *words], cwd=os.getcwd(), rounds=5, module=module)
    return resume(typed, nobody)


def test_a_folder_from_somebody_else_runs_nothing_that_was_not_typed(tmp_path: Path) -> None:
    theirs = Wanted(words=["theirs.py", "--all"], cwd=os.getcwd(), rounds=5, module=True)
    State(theirs, str(tmp_path)).save()
    words: list[str]
    for words in ([], ["mine.py"], ["theirs.py", "--all"]):  # the last without its -m
        with pytest.raises(InputError, match=r"theirs\.py --all"):
            resumed(tmp_path, words)
    assert resumed(tmp_path, ["theirs.py", "--all"], module=True).wanted == theirs


def test_a_fix_that_somebody_else_wrote_is_part_of_the_command(tmp_path: Path) -> None:
    theirs = Wanted(words=["train.py"], cwd=os.getcwd(), rounds=5, fixes=["theirs.fix"])
    State(theirs, str(tmp_path)).save()
    with pytest.raises(InputError, match=r"--fixes theirs\.fix train\.py"):
        resumed(tmp_path, ["train.py"])


def test_who_is_asked_sees_the_command_and_decides(tmp_path: Path) -> None:
    words = ["theirs.py", "mine.py"]
    State(Wanted(words=words, cwd=os.getcwd(), rounds=5, in_place=True), str(tmp_path)).save()
    typed = Wanted(words=[str(tmp_path)], cwd=os.getcwd(), rounds=5)
    may_run = "--in-place theirs.py mine.py".__eq__
    assert resume(typed, may_run).wanted.words == words


def test_it_is_not_written_through_a_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("years of work")
    (tmp_path / f"{STATE_FILE}.arriving").symlink_to(precious)
    (tmp_path / STATE_FILE).symlink_to(precious)
    State(Wanted(words=["train.py"], cwd="/", rounds=5), str(tmp_path)).save()
    assert precious.read_text() == "years of work"
