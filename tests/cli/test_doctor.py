"""`stepscope doctor`: every check says what it found, and what to do if something is wrong."""

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import permissions
from stepscope.cli import doctor_checks, doctor_questions
from stepscope.cli.doctor_checks import all_checks
from stepscope.cli.main import main
from stepscope.launch.support import NEWEST, dotted


def test_this_machine_can_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is True
    names = [check["name"] for check in told["checks"]]
    assert names == [
        "system", "python", "native core", "frames", "clock", "line engine", "frameworks",
        "also here", "cache folder", "space", "run folder", "/proc", "limits",
    ]  # fmt: skip


def test_the_page_names_every_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(tmp_path)]) == 0
    page = capsys.readouterr().out
    assert all(check.name in page for check in all_checks(str(tmp_path)))


def test_a_free_threaded_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: 1)
    check = {check.name: check for check in all_checks(".")}["python"]
    assert check.state == "failed"
    assert "free-threaded" in check.found
    assert check.advice is not None
    assert "with the GIL" in check.advice


def test_windows_is_refused_and_wsl_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    check = all_checks(".")[0]
    assert check.state == "failed"
    assert check.advice is not None
    assert "WSL" in check.advice


def test_a_python_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_checks, "OLDEST", (3, 99))
    check = {check.name: check for check in all_checks(".")}["python"]
    assert check.state == "failed"
    assert check.advice == f"Use Python 3.99 to {dotted(NEWEST)}."


HERE = sys.version_info[:2]


@pytest.mark.parametrize(("tested_on", "state"), [(HERE, "ok"), ((3, 2), "limited")])
def test_frameworks_are_named_and_where_they_are_untested(
    tested_on: tuple[int, int], state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed package is one that has its metadata on the path."""
    facts = tmp_path / "torch-9.9.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 9.9\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(doctor_checks, "FRAMEWORKS_TESTED_ON", tested_on)
    check = {check.name: check for check in all_checks(".")}["frameworks"]
    assert check.state == state
    assert "torch 9.9" in check.found
    assert ("untested" in (check.advice or "")) == (state == "limited")


def test_for_each_question_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package is one that can be found."""
    here = {"IPython", "mlflow"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in here else None)
    monkeypatch.setattr(doctor_questions, "is_built", lambda: False)
    check = {check.name: check for check in all_checks(".")}["also here"]
    assert check.state == "ok"
    assert "%load_ext stepscope in notebooks" in check.found
    assert "experiment tracker" in check.found
    assert check.advice is not None
    assert "calls drawn by snakeviz (export --to pstats): pip install snakeviz" in check.advice
    assert "report.html and 'stepscope view': install a wheel" in check.advice
    assert "ipython" not in check.advice


def test_a_folder_that_cannot_be_written_fails(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with permissions.enforced():
        assert main(["doctor", str(tmp_path)]) == 4


def test_a_full_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    check = {check.name: check for check in all_checks(str(tmp_path))}["run folder"]
    assert check.state == "failed"
    assert "No space left on device" in check.found
    assert check.advice is not None


def test_a_folder_that_does_not_exist_yet_is_judged_by_the_one_above(tmp_path: Path) -> None:
    assert main(["doctor", str(tmp_path / "new" / "runs")]) == 0
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 has no sys.monitoring")
def test_taken_tool_ids_are_named() -> None:
    code = (
        "import sys; from stepscope.cli.main import main\n"
        "for tool in (3, 4): sys.monitoring.use_tool_id(tool, f'other{tool}')\n"
        "sys.exit(main(['doctor']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 4
    assert "3 by other3, 4 by other4" in done.stdout
