"""What a trial keeps of itself, to go on later."""

import os
from pathlib import Path

import pytest

from stepscope.errors import DataError, InputError
from stepscope.trial.state import (
    STATE_FILE,
    Comparison,
    Round,
    SavedBaseline,
    SavedFix,
    State,
    Wanted,
    resume,
)  # fmt: skip


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


def measured(folder: Path, baseline: str, round_: str) -> State:
    """A trial with a run of the script as it is, and one round."""
    wanted = Wanted(words=["train.py"], cwd=os.getcwd(), rounds=5)
    rounds = [Round(before_ms=2.0, after_ms=1.0, before_run=baseline, after_run=round_)]
    state = State(
        wanted,
        str(folder),
        baseline=SavedBaseline(run=baseline, seconds=1.0, loaded=[]),
        comparisons=[Comparison([], [], rounds)],
    )
    state.save()
    return state


def test_the_scripts_own_losses_are_known_without_a_control(tmp_path: Path) -> None:
    """Its baseline is a run as it is, too: one that is not seeded differs from it."""
    fix, runs = SavedFix(name="a", settings={}), ("baseline", "before", "after")
    rounds = [Round(before_ms=2.0, after_ms=1.0, before_run=runs[1], after_run=runs[2])]
    state = State(
        Wanted(words=["train.py"], cwd="/", rounds=5),
        str(tmp_path),
        baseline=SavedBaseline(run=runs[0], seconds=1.0, loaded=[]),
        comparisons=[Comparison([], [fix], rounds)],
    )
    assert state.kept_runs([]) == ["baseline", "before"]
    assert state.kept_runs([fix]) == ["after"]


def test_a_trial_that_was_moved_finds_its_runs(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    measured(before, f"{before}/baseline/run", f"{before}/00-control-1-after/run")
    before.rename(after)
    state = resumed(after, ["train.py"])
    assert state.baseline is not None
    assert state.baseline.run == f"{after}/baseline/run"
    assert state.comparisons[0].rounds[0].after_run == f"{after}/00-control-1-after/run"


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    "elsewhere", ["{0}/precious", "{0}/try/../precious", "{0}/try/link/run", "../precious", "\0"]
)
def test_a_run_outside_of_the_trial_is_never_opened(
    tmp_path: Path, elsewhere: str, number: int
) -> None:
    """A folder from somebody else: measured gains would be written there."""
    folder = tmp_path / "try"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "precious")
    runs = [f"{folder}/baseline/run", f"{folder}/00-control-1-after/run"]
    runs[number] = elsewhere.format(tmp_path)
    measured(folder, *runs)
    with pytest.raises(DataError, match="names a run outside of its folder"):
        resumed(folder, ["train.py"])
