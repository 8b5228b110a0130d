"""Hydra applications, which work in their own folder: as a script and as a console command."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

import needs
from frameworks.running import PROGRAMS, run, show

needs.module("hydra")
needs.module("lightning")

FOLDER = PROGRAMS / "hydra"
STEPSCOPE = (sys.executable, "-m", "stepscope", "run", "--quiet")
OUTPUTS = "outputs/of-this-run"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.mark.nightly
def test_the_run_stays_where_it_was_started_and_the_report_goes_to_hydras_folder(
    folder: Path,
) -> None:
    program = FOLDER / "app.py"
    recorded = run(*STEPSCOPE, program, "batches=14", folder=folder)
    assert (folder / OUTPUTS / "here.txt").read_text() == str(folder / OUTPUTS)
    report = (folder / OUTPUTS / "fit-perf.txt").read_text()
    assert "run_training_batch" in report
    runs = list((folder / "stepscope-runs").glob("app-*"))
    assert len(runs) == 1
    assert not list((folder / OUTPUTS).rglob("stepscope-runs"))
    answer = json.loads(show(runs[0], "steps", "--json"))
    assert (answer["steps"], answer["anchor"]) == (28, "batches of Lightning")
    rows = json.loads(show(runs[0], "actions", "--json"))["actions"]
    assert {row["name"]: row["calls"] for row in rows}["run_training_batch"] == 28
    functions = json.loads(show(runs[0], "lines", "--json"))["functions"]
    assert {"main", "Classifier.training_step"} <= {row["function"] for row in functions}
    assert recorded.stdout == run(sys.executable, program, "batches=14", folder=folder).stdout


@pytest.mark.nightly
def test_a_console_command_is_recorded_with_its_package_as_the_users(folder: Path) -> None:
    commands = folder.parent / "bin"
    commands.mkdir()
    made = commands / "train-digits"
    made.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(FOLDER)!r})\n"
        "from app import main\nsys.exit(main())\n"
    )
    made.chmod(made.stat().st_mode | stat.S_IXUSR)
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    run(*STEPSCOPE, "-o", "run", "train-digits", "batches=10", folder=folder, PATH=path)
    assert json.loads(show(folder / "run", "steps", "--json"))["steps"] == 20
    assert (folder / OUTPUTS / "fit-perf.txt").exists()


@pytest.mark.nightly
def test_a_bad_option_of_the_application_is_its_own_to_refuse(folder: Path) -> None:
    program = FOLDER / "app.py"
    recorded = run(*STEPSCOPE, program, "bathces=1", folder=folder, check=False)
    alone = run(sys.executable, program, "bathces=1", folder=folder, check=False)
    assert recorded.returncode == alone.returncode == 1
    assert recorded.stderr == alone.stderr
