"""The right loop is the step: real programs, really recorded."""

import subprocess
import sys
from pathlib import Path

import pytest

from asking import answer as show

PROGRAMS = Path(__file__).parents[1] / "programs" / "steps"


def record(
    program: str, folder: Path, *options: str
) -> tuple["subprocess.CompletedProcess[str]", Path]:
    run = folder / "run"
    command = [sys.executable, "-m", "stepscope", "run", "--quiet", "-o", str(run)]
    ended = subprocess.run(
        [*command, *options, str(PROGRAMS / f"{program}.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    return ended, run


@pytest.mark.parametrize(
    ("program", "steps", "mean_ms"),
    [
        ("epochs_and_evaluation", 60, 3),
        ("rows_in_the_step", 40, 2),
        ("two_networks", 30, 4),
        ("layers", 25, 14.4),
        ("preparation_first", 60, 2),
        ("endless_with_break", 35, 2),
        ("generator_loader", 45, 3),
        ("marked", 20, 3),
        ("marked_loader", 30, 3),
    ],
)
def test_the_steps_are_counted_and_last_what_they_last(
    program: str, steps: int, mean_ms: float, tmp_path: Path
) -> None:
    _, run = record(program, tmp_path)
    answer = show(run, "steps")
    assert answer["steps"] == steps
    # Busy time is a lower bound; a machine that is not quiet only adds to it.
    assert answer["step_ms"]["median"] >= mean_ms
    parts = sum(part["ms"] for part in answer["breakdown"])
    assert parts == pytest.approx(answer["step_ms"]["mean"], rel=1e-6)


def test_a_marked_step_knows_its_samples(tmp_path: Path) -> None:
    _, run = record("marked", tmp_path)
    rate = show(run, "steps")["rate"]
    assert rate["samples_per_s"] == pytest.approx(64 * rate["per_s"])


def test_waiting_for_a_marked_loader_is_input(tmp_path: Path) -> None:
    _, run = record("marked_loader", tmp_path)
    answer = show(run, "steps")
    (waiting,) = (part for part in answer["breakdown"] if part["category"] == "input")
    assert waiting["ms"] >= 1


def test_without_steps_the_reason_is_reported(tmp_path: Path) -> None:
    _, run = record("no_steps", tmp_path)
    answer = show(run, "steps")
    assert answer["steps"] == 0
    assert answer["reason"]
    assert answer["step_ms"] is None


def test_a_script_is_stopped_cleanly_after_so_many_steps(tmp_path: Path) -> None:
    ended, run = record("long_loop", tmp_path, "--steps", "50")
    assert ended.returncode == 0
    assert ended.stdout == "left tidily after 49\n"  # the 51st turn has not begun
    assert ended.stderr == ""
    assert show(run, "steps")["steps"] == 50


def test_marked_steps_count_for_the_limit_too(tmp_path: Path) -> None:
    ended, run = record("marked_loader", tmp_path, "--steps", "12")
    assert ended.returncode == 0
    assert show(run, "steps")["steps"] == 12


def test_a_script_is_stopped_once_its_steps_have_settled(tmp_path: Path) -> None:
    ended, run = record("long_loop", tmp_path, "--until-stable")
    assert ended.returncode == 0
    assert ended.stdout.startswith("left tidily")
    assert show(run, "steps")["steps"] >= 30


@pytest.mark.parametrize(("limit", "least"), [("1s", 0), ("20steps", 19)])
def test_recording_stops_and_the_script_goes_on(limit: str, least: int, tmp_path: Path) -> None:
    """In a second a busy machine may not get through the ten turns that make a loop the steps."""
    ended, run = record("counted_loop", tmp_path, "--stop-after", limit)
    assert ended.returncode == 0
    assert ended.stdout == "all done: 60\n"
    recorded = show(run, "steps")["steps"]
    assert least <= recorded < 59
    (process,) = show(run, "processes")["processes"]
    assert process["status"] == "stopped"
