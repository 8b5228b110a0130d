"""The copy that a script runs in: the same before each run, and never the original."""

import os
from pathlib import Path

import pytest

from stepscope.errors import InputError
from stepscope.trial.copied_folder import CopiedFolders, roots_for


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    (folder / "train.py").write_text("print()")
    (folder / "data" / "a.txt").write_text("a")
    (folder / "data" / "b.txt").write_text("b")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def copies(project: Path, tmp_path: Path) -> CopiedFolders:
    return CopiedFolders(roots_for(str(project / "train.py")), str(tmp_path / "copy"))


def files_in(folder: str | Path) -> dict[str, str]:
    paths = [path for path in Path(folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def test_the_script_runs_in_the_same_folder_of_the_copy(
    copies: CopiedFolders, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = copies.fresh(["python", "train.py"])
    assert files_in(place.folder) == files_in(project)
    assert not Path(place.folder).is_relative_to(project)
    monkeypatch.chdir(project / "data")
    assert copies.fresh([]).folder == f"{place.folder}/data"


def test_nobody_else_can_look_into_the_copy(copies: CopiedFolders, project: Path) -> None:
    """Files keep their mode, but a folder that was closed to others is not made closed."""
    (project / "data").chmod(0o700)
    place = copies.fresh([])
    assert Path(place.folder).parent.stat().st_mode & 0o777 == 0o700


def test_what_a_run_changed_made_or_removed_is_put_back_and_the_rest_stays(
    copies: CopiedFolders, project: Path
) -> None:
    before = files_in(project)
    copy = Path(copies.fresh([]).folder)
    untouched = (copy / "data" / "b.txt").stat().st_ino
    (copy / "data" / "a.txt").write_text("x")
    os.utime(copy / "data" / "a.txt", ns=(0, (project / "data" / "a.txt").stat().st_mtime_ns))
    (copy / "train.py").unlink()
    (copy / "made").mkdir()
    (copy / "made" / "new.txt").write_text("new")
    copies.fresh([])
    assert files_in(copy) == files_in(project) == before
    assert not (copy / "made").exists()
    assert (copy / "data" / "b.txt").stat().st_ino == untouched


def test_a_folder_where_a_file_was_is_put_back_too(copies: CopiedFolders, project: Path) -> None:
    copy = Path(copies.fresh([]).folder)
    (copy / "train.py").unlink()
    (copy / "train.py").mkdir()
    (copy / "data" / "a.txt").unlink()
    (copy / "data" / "b.txt").unlink()
    (copy / "data").rmdir()
    (copy / "data").write_text("a file")
    copies.fresh([])
    assert files_in(copy) == files_in(project)


def test_what_no_training_reads_is_left_out(copies: CopiedFolders, project: Path) -> None:
    for name in (".git", "__pycache__", "stepscope-runs", "my-env"):
        (project / name).mkdir()
        (project / name / "file").write_text("large")
    (project / "my-env" / "pyvenv.cfg").write_text("")
    copy = Path(copies.fresh([]).folder)
    assert {path.name for path in copy.iterdir()} == {"train.py", "data"}


def test_links_lead_where_they_led(copies: CopiedFolders, project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.txt").write_text("far")
    (project / "inside").symlink_to("data/a.txt")
    (project / "outside").symlink_to("../elsewhere.txt")
    (project / "broken").symlink_to("nothing")
    copy = Path(copies.fresh([]).folder)
    assert ((copy / "inside").read_text(), (copy / "outside").read_text()) == ("a", "far")
    assert (copy / "inside").resolve().is_relative_to(copy)
    assert (copy / "broken").is_symlink()


def test_paths_into_the_folder_become_paths_into_the_copy(
    copies: CopiedFolders, project: Path
) -> None:
    data = str(project / "data")
    words = ["train.py", "--data", data, f"--out={data}/out", "--lr=0.1", "../other", "/usr/x"]
    place = copies.fresh(words)
    copied = f"{place.folder}/data"
    assert place.arguments == [
        "train.py", "--data", copied, f"--out={copied}/out", "--lr=0.1", "../other", "/usr/x",
    ]  # fmt: skip


def test_an_interpreter_in_the_folder_is_used_where_it_is(
    copies: CopiedFolders, project: Path
) -> None:
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "pyvenv.cfg").touch()
    interpreter = project / ".venv" / "bin" / "python"
    interpreter.symlink_to("/usr/bin/python3")
    assert copies.fresh([str(interpreter), "train.py"]).arguments == [str(interpreter), "train.py"]


def test_a_script_elsewhere_is_copied_with_its_own_folder(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    script = os.path.relpath(project / "train.py")
    copies = CopiedFolders(roots_for(script), str(tmp_path / "copy"))
    place = copies.fresh(["python", script])
    assert files_in(place.folder) == {}
    assert Path(place.arguments[1]).read_text() == "print()"
    assert Path(place.arguments[1]).is_relative_to(tmp_path / "copy")


def test_the_working_folder_may_be_above_the_script(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert roots_for("project/train.py") == [str(tmp_path)]


def test_what_is_too_large_is_refused_with_the_way_out(project: Path, tmp_path: Path) -> None:
    (project / "large").write_bytes(bytes(2000))
    with pytest.raises(InputError, match="--in-place"):
        CopiedFolders([str(project)], str(tmp_path / "copy"), most_bytes=1000)


def test_a_copy_that_is_removed_is_gone(copies: CopiedFolders, tmp_path: Path) -> None:
    copies.fresh([])
    copies.remove()
    assert not (tmp_path / "copy").exists()


def test_a_link_that_leads_out_of_the_copy_leads_elsewhere(
    copies: CopiedFolders, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir()
    (project / "out").symlink_to(tmp_path / "shared")
    copy = copies.fresh([]).folder
    assert copies.is_inside(f"{copy}/data/a.txt")
    assert not copies.is_inside(f"{copy}/out/log.txt")


def test_a_link_in_the_place_of_the_copy_is_never_followed(
    copies: CopiedFolders, tmp_path: Path
) -> None:
    """In a trial that is resumed: what is not the script's would be removed where it leads to."""
    precious = tmp_path / "precious" / "0"
    precious.mkdir(parents=True)
    (precious / "thesis.tex").write_text("years of work")
    (tmp_path / "copy").symlink_to(precious.parent)
    copies.fresh([])
    assert files_in(precious) == {"thesis.tex": "years of work"}
