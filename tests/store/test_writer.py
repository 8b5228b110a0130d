"""Copies of sources: who may not read the original may not read the copy either."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.running import run as stepscope_run
from stepscope.store.writer import keep_source


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize(
    ("original", "copied", "folder"),
    [
        (0o644, 0o644, 0o755),
        (0o755, 0o644, 0o755),
        (0o600, 0o600, 0o700),
        (0o640, 0o640, 0o750),
        (0o400, 0o600, 0o700),
    ],
)
def test_a_copy_is_as_private_as_its_original(
    tmp_path: Path, original: int, copied: int, folder: int
) -> None:
    script = tmp_path / "train.py"
    script.write_text("secret = 1\n")
    script.chmod(original)
    run = tmp_path / "run"
    run.mkdir(0o755)
    name = keep_source(str(run), str(script))
    assert name is not None
    assert mode_of(run / "sources" / name) == copied
    assert mode_of(run) == folder


def test_a_copy_is_not_written_through_a_link(tmp_path: Path) -> None:
    script, run, elsewhere = tmp_path / "train.py", tmp_path / "run", tmp_path / "elsewhere"
    script.write_text("x = 1\n")
    for folder in (run, elsewhere):
        folder.mkdir()
    (run / "sources").symlink_to(elsewhere)
    assert keep_source(str(run), str(script)) is None
    assert list(elsewhere.iterdir()) == []


def test_the_run_of_a_private_script_is_private(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('hello')\n")
    script.chmod(0o600)
    done = stepscope_run("-o", "run", "train.py", "-k", "SECRET", cwd=tmp_path)
    assert done.returncode == 0
    assert mode_of(tmp_path / "run") == 0o700
    for file in (tmp_path / "run").rglob("*.json*"):
        assert "SECRET" not in file.read_text(), file
