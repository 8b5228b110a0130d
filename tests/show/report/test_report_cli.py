"""The report as commands make it: at the end of a run, and by export."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import needs
from show.exporters.recorded import stepscope

SCRIPT = "import time\nfor secret_name in range(12):\n    time.sleep(0.002)\n"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Where a script was recorded, and what the command said."""
    folder = tmp_path_factory.mktemp("told")
    (folder / "train.py").write_text(SCRIPT)
    return folder, stepscope("run", "-o", "run", "train.py", folder=folder)


@needs.page
def test_a_run_ends_with_its_report_and_says_where(told: tuple[Path, str]) -> None:
    folder, said = told
    assert said.rstrip().splitlines()[-1].split() == ["in", "browser", "run/report.html"]
    assert b"secret_name" in (folder / "run" / "report.html").read_bytes()
    assert [path.name for path in (folder / "run").glob("report.html*")] == ["report.html"]


@needs.page
def test_export_makes_it_again_and_without_source(told: tuple[Path, str]) -> None:
    folder, _ = told
    said = stepscope("export", "run", "--to", "html", "-o", "with.html", folder=folder)
    assert "Open it with: any browser" in said
    assert b"secret_name" in (folder / "with.html").read_bytes()
    words = ("export", "run", "--to", "html", "--no-source", "-o", "without.html")
    stepscope(*words, folder=folder)
    assert b"secret_name" not in (folder / "without.html").read_bytes()


def test_no_source_belongs_to_html(told: tuple[Path, str]) -> None:
    words = ("export", "run", "--to", "collapsed", "--no-source")
    assert "--to html" in stepscope(*words, folder=told[0], status=2)


@needs.page
def test_a_report_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import os\nos.mkdir(os.path.join('run', 'report.html'))\n" + SCRIPT
    )
    said = stepscope("run", "-o", "run", "train.py", folder=tmp_path)
    assert "The whole run" in said
    assert "no report: " in said
    assert "Traceback" not in said


@needs.page
@pytest.mark.parametrize("is_wanted", [True, False])
def test_a_quiet_run_has_one_unless_the_environment_says_no(
    is_wanted: bool, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "stepscope", "run", "--quiet", "-o", "run", "train.py"]
    environment = {**os.environ, "STEPSCOPE_REPORT": "" if is_wanted else "off"}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert run.stderr == b""
    assert (tmp_path / "run" / "report.html").exists() == is_wanted


@needs.page
def test_a_run_that_nobody_waited_for_has_one_from_the_first_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks under their launcher, or a block in a notebook."""
    (tmp_path / "block.py").write_text(
        "import time, stepscope\nwith stepscope.Profiler('run'):\n"
        "    for _ in range(12):\n        time.sleep(0.002)\n"
    )
    subprocess.run([sys.executable, "block.py"], cwd=tmp_path, check=True, capture_output=True)
    assert not (tmp_path / "run" / "report.html").exists()
    monkeypatch.setenv("STEPSCOPE_REPORT", "")
    show = [sys.executable, "-m", "stepscope", "show", "run"]
    for _ in range(2):
        said = subprocess.run(show, cwd=tmp_path, check=True, capture_output=True, text=True)
        assert said.stdout.splitlines()[-1].split() == ["in", "browser", "run/report.html"]
        assert (tmp_path / "run" / "report.html").exists()
