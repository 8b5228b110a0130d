"""Steps of a job that was recorded in looks: what spans a rest is no step."""

from pathlib import Path

from asking import answer as shown
from build import MS, RunBuilder
from stepscope.store.events import Rests

STEPS = 40


def rested(path: Path) -> Path:
    """40 steps of 10 ms, a rest of 10 s, and 40 more."""
    run = RunBuilder(path)
    process = run.process()
    for number in range(STEPS + 1):
        process.step(number * 10 * MS, begins=number == 0)
    last = STEPS * 10 * MS
    process.event(Rests, 0, process.ticks(last + MS), process.ticks(last + 10_001 * MS), left_out=9)
    for number in range(1, STEPS + 1):
        process.step(last + 10_000 * MS + number * 10 * MS)
    process.write()
    run.supervisor(last + 10_000 * MS + last)
    return path


def test_a_rest_is_not_taken_for_a_slow_step(tmp_path: Path) -> None:
    steps = shown(rested(tmp_path / "run"), "steps")
    assert steps["steps"] == 2 * STEPS - 1  # the step that the rest began in is not known
    assert steps["step_ms"]["mean"] == 10.0


def test_the_time_of_a_rest_is_time_of_steps_and_the_run_says_so(tmp_path: Path) -> None:
    summary = shown(rested(tmp_path / "run"), "summary")
    assert "10 s of it, steps are not recorded one by one" in str(summary)
