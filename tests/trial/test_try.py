"""`stepscope try` with real scripts: what it measures, what it refuses, what it leaves behind."""

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import needs
from clean_environment import environment
from trial.trying import (
    OWN,
    PATH,
    PATIENCE_S,
    PROGRAMS,
    answered,
    by_fix,
    command,
    processes_of,
    run,
    start,
)

STEPS = "--steps", "30"
RESUMES = r"stepscope try --resume (--fixes \S+ )?stepscope-runs/try-naps-\S+ naps.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for program in PROGRAMS.glob("*.py"):
        shutil.copy(program, tmp_path)
    (tmp_path / "data.txt").write_text("original")
    return tmp_path


def own(*names: str) -> tuple[str, str]:
    return "--fixes", ",".join(f"{OWN}.{name}" for name in names)


def test_a_fix_is_measured_against_the_script_as_it_is_and_the_ladder_goes_on_after_failures(
    folder: Path,
) -> None:
    names = ("broken", "deadly", "never_reached", "shorter_naps")
    answer = answered(*own(*names), *STEPS, "naps.py", cwd=folder)
    rungs = by_fix(answer)
    assert [rung["fix"].rpartition(".")[2] for rung in answer["rungs"]] == list(names)
    assert rungs["broken"]["status"] == "failed"
    assert "it cannot work" in rungs["broken"]["reason"]
    assert rungs["deadly"]["status"] == "failed"
    assert rungs["deadly"]["reason"] == "killed by SIGILL: an instruction this CPU does not have"
    assert (rungs["never_reached"]["status"], rungs["never_reached"]["rounds"]) == ("skipped", 0)
    kept = rungs["shorter_naps"]
    assert kept["status"] == "kept"
    assert kept["loss"]["how"] == "unknown"  # no framework, no losses
    assert 1.0 < kept["low"] <= kept["speedup"] <= kept["high"]
    assert kept["speedup"] > 1.5
    assert (kept["what"], kept["patch"]) == ("sleep a fifth as long", "Sleep less.\n")
    assert answer["noise"]["low"] <= 1.0 + 0.5
    assert answer["baseline"]["steps"] == 30
    assert not list((folder / "stepscope-runs").glob("*/copy"))


@pytest.mark.nightly  # dozens of runs that load torch
@needs.package("torch")
@pytest.mark.parametrize(("seeded", "same"), [(["--seeded"], "bitwise"), ([], "unknown")])
def test_the_losses_are_compared_where_the_scripts_own_runs_agree(
    folder: Path, seeded: list[str], same: str
) -> None:
    answer = answered(*own("shorter_naps"), *STEPS, "with_losses.py", *seeded, cwd=folder)
    (rung,) = answer["rungs"]
    assert (rung["status"], rung["loss"]["how"]) == ("kept", same)
    assert rung["loss"]["as_promised"]


def test_each_run_sees_the_files_as_they_were_and_the_originals_stay(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "log.txt"
    words = ("counts_its_runs.py", str(elsewhere))
    answer = answered(*own("shorter_naps"), *STEPS, *words, cwd=folder)
    assert answer["rungs"][0]["status"] == "kept"
    assert elsewhere.read_text().count("one run") == answer["runs"]
    assert f"Written in every run, since it lies elsewhere: {elsewhere}." in answer["notes"]
    assert (folder / "data.txt").read_text() == "original"
    assert not (folder / "made.txt").exists()


def test_in_place_the_script_writes_where_it_is(folder: Path) -> None:
    ended = run("--in-place", *own("shorter_naps"), *STEPS, "counts_its_runs.py", cwd=folder)
    assert ended.returncode == 1
    assert "the data was 'spoiled'" in ended.stderr
    assert (folder / "made.txt").exists()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("fails.py", "no such column: 'label'"),
        ("fails_in_its_first_step.py", "shapes (3,) and (4,) not aligned"),
        ("asks.py", "it asks for input, and nobody is there to answer"),
        ("no_steps.py", "No steps found"),
    ],
)
def test_a_script_that_cannot_be_measured_is_a_clear_error(
    folder: Path, script: str, words: str
) -> None:
    ended = run(*own("shorter_naps"), script, cwd=folder)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr.split("It said last")[0]


def test_a_healthy_script_has_nothing_to_try(folder: Path) -> None:
    ended = run(*STEPS, "healthy.py", cwd=folder)
    assert ended.returncode == 0
    assert ended.stdout.startswith("Nothing to try")


def test_a_fix_that_is_not_there_is_refused_before_anything_runs(folder: Path) -> None:
    ended = run("--fixes", "no-such-fix", "naps.py", cwd=folder)
    assert ended.returncode == 2
    assert "There is no fix 'no-such-fix'" in ended.stderr
    assert not (folder / "stepscope-runs").exists()


def test_a_baseline_that_does_not_fit_into_the_budget_says_what_to_change(folder: Path) -> None:
    four_s = "--steps", "400"
    ended = run(*own("shorter_naps"), *four_s, "--budget", "0.02", "naps.py", cwd=folder)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "--budget gives it more time, --steps N asks for fewer steps" in ended.stderr
    assert processes_of(folder) == []


def wait_for(is_there: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not is_there():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)


def wait_for_rounds(folder: Path, count: int) -> None:
    def are_there() -> bool:
        files = folder.glob("stepscope-runs/try-*/try.json")
        found = [json.loads(file.read_text())["comparisons"] for file in files]
        return sum(len(each["rounds"]) for state in found for each in state) >= count

    wait_for(are_there)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_trial_leaves_no_process_and_can_be_resumed(
    folder: Path, number: int
) -> None:
    words = (*own("shorter_naps"), *STEPS, "naps.py", "--with-child")
    process = start(*words, cwd=folder)
    wait_for_rounds(folder, 1)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "not tried: interrupted" in out
    assert re.search(RESUMES, err)
    assert processes_of(folder) == []

    before = json.loads(next(folder.glob("stepscope-runs/try-*/try.json")).read_text())
    resumed = run("--resume", "--json", *own("shorter_naps"), "naps.py", "--with-child", cwd=folder)
    answer = json.loads(resumed.stdout)
    assert re.search(r"the script as it is and \d rounds? are used again", resumed.stderr)
    assert answer["rungs"][0]["status"] == "kept", answer["rungs"][0]["reason"]
    assert answer["runs"] > before["runs"]
    after = json.loads(next(folder.glob("stepscope-runs/try-*/try.json")).read_text())
    assert after["comparisons"][0]["rounds"][0] == before["comparisons"][0]["rounds"][0]
    assert len(list(folder.glob("stepscope-runs/try-*"))) == 1
    assert processes_of(folder) == []


def test_an_interruption_while_the_script_is_started_leaves_no_process(folder: Path) -> None:
    command = [sys.executable, str(PROGRAMS / "interrupted_start.py")]
    ended = subprocess.run(command, cwd=folder, env=environment(), timeout=PATIENCE_S, check=False)
    assert ended.returncode == 130
    assert processes_of(folder) == []


@needs.page
def test_an_interrupted_report_costs_nothing_that_was_measured(folder: Path) -> None:
    ended = subprocess.run(
        [sys.executable, str(PROGRAMS / "interrupted_report.py")],
        cwd=folder, env=environment({"STEPSCOPE_REPORT": "on"}), timeout=PATIENCE_S,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 130
    assert ended.stdout.startswith("Nothing to try")
    assert "What was measured is kept: stepscope try --resume" in ended.stderr


def test_a_trial_whose_baseline_is_interrupted_begins_with_it_again(folder: Path) -> None:
    words = (*own("shorter_naps"), *STEPS, "naps.py", "--with-child")
    process = start(*words, cwd=folder)
    wait_for(lambda: bool(processes_of(folder)))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, "")
    assert re.search(RESUMES, err)
    assert "Traceback" not in err
    wait_for(lambda: not processes_of(folder))  # killed ones take a moment to go
    assert not list(folder.glob("stepscope-runs/try-*/copy"))


def test_a_terminal_that_is_closed_ends_the_trial_and_all_that_it_started(folder: Path) -> None:
    terminal, inside = pty.openpty()
    words = command(*own("shorter_naps"), *STEPS, "naps.py", "--with-child")
    process = subprocess.Popen(
        words, cwd=folder, env=environment({"PYTHONPATH": PATH}), start_new_session=True,
        stdin=inside, stdout=inside, stderr=inside, preexec_fn=take_terminal,
    )  # fmt: skip
    os.close(inside)
    wait_for_rounds(folder, 1)
    os.close(terminal)
    assert process.wait(timeout=PATIENCE_S) == 130
    assert processes_of(folder) == []
    assert not list(folder.glob("stepscope-runs/try-*/copy"))
    state = json.loads(next(folder.glob("stepscope-runs/try-*/try.json")).read_text())
    assert state["comparisons"][0]["rounds"]


def take_terminal() -> None:
    """As the shell of a terminal does for what it starts."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_no_process_outlives_its_run_whatever_it_does_to_get_away(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pid = tmp_path_factory.mktemp("elsewhere") / "pid"
    ended = run(*own("shorter_naps"), "lets_go.py", str(pid), cwd=folder)
    assert "The script does not get through unchanged: exit status 1: enough" in ended.stderr
    assert not Path("/proc", pid.read_text().strip()).exists()


def test_only_the_same_command_can_be_resumed(folder: Path) -> None:
    nothing = run("--resume", cwd=folder)
    assert (nothing.returncode, "no trial to resume" in nothing.stderr) == (2, True)
    run(*own("shorter_naps"), "fails.py", cwd=folder)
    other = run("--resume", "naps.py", cwd=folder)
    assert (other.returncode, "leave --resume out" in other.stderr) == (2, True)
