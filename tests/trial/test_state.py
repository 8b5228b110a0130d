"""What a trial keeps of itself, to go on later."""

import os
from pathlib import Path

from stepscope.trial.state import STATE_FILE, State, Wanted, resume


def test_the_command_line_with_its_secrets_is_for_its_user_alone(tmp_path: Path) -> None:
    """It is run again as it was typed, so nothing in it is masked."""
    words = ["train.py", "-k", "SECRET"]
    State(Wanted(words=words, cwd=os.getcwd(), rounds=5), str(tmp_path)).save()
    assert (tmp_path / STATE_FILE).stat().st_mode & 0o777 == 0o600
    assert resume([str(tmp_path)]).wanted.words == words


def test_it_is_not_written_through_a_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("years of work")
    (tmp_path / f"{STATE_FILE}.arriving").symlink_to(precious)
    (tmp_path / STATE_FILE).symlink_to(precious)
    State(Wanted(words=["train.py"], cwd="/", rounds=5), str(tmp_path)).save()
    assert precious.read_text() == "years of work"
