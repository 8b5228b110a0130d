"""Long runs: the memory of the script, and what it takes to look at them."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from asking import answer as shown
from clean_environment import environment
from robustness.running import PROGRAMS, record
from stepscope.analyze.run import load

MB = 2**20
BYTES_A_FUNCTION = 5000  # its code with ticks, its counters and its names
EPOCHS_LINE = 17  # of tests/programs/robustness/epochs.py
STEPS_BY_DAY, STEPS_BY_NIGHT = 300_000, 2_000_000
ASKED = (
    "import resource, sys\n"
    "from stepscope.cli.main import main\n"
    "status = main(sys.argv[1:])\n"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    "sys.exit(status)\n"
)


@pytest.mark.parametrize(
    "steps", [STEPS_BY_DAY, pytest.param(STEPS_BY_NIGHT, marks=pytest.mark.nightly)]
)
def test_the_memory_of_a_script_does_not_grow_with_its_steps(steps: int, tmp_path: Path) -> None:
    done = record(tmp_path, "marks_many_steps", str(steps), options=["--quiet"])
    before, after = json.loads(done.stdout)
    (events,) = (tmp_path / "run").glob("proc-*/events.bin")
    assert events.stat().st_size > steps * 48
    for kind in ("Rss", "Pss"):
        assert after[kind] - before[kind] < 8 * MB, kind


@pytest.mark.parametrize("epochs", [100, pytest.param(300, marks=pytest.mark.nightly)])
def test_a_job_that_outlasts_its_room_stays_in_it_and_has_all_its_epochs(
    epochs: int, tmp_path: Path
) -> None:
    """As many steps as a week has with room in proportion."""
    record(tmp_path, "epochs", str(epochs), "2000", options=["--quiet", "--max-size", "8MB"])
    assert sum(file.stat().st_size for file in (tmp_path / "run").glob("proc-*/*")) < 8 * MB
    process = load(tmp_path / "run").main
    assert process is not None
    assert len(process.rests)
    middle_ns = (process.start_ns + process.end_ns) // 2
    assert (process.step_marks.at_ns > middle_ns).any()
    (outer,) = (loop.id for loop in process.names.loops.values() if loop.line == EPOCHS_LINE)
    assert (process.loop_stamps.name == outer).sum() == epochs + 1  # its end, too
    assert process.opens.is_writing.sum() == epochs


def asked(run: Path, view: str) -> tuple[float, int]:
    """CPU seconds and bytes that `show` takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", ASKED, "show", str(run), view],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, int(done.stderr.split()[-1]) * 1024


@pytest.mark.nightly
def test_two_million_steps_are_all_there_and_take_little_memory_to_show(tmp_path: Path) -> None:
    record(tmp_path, "marks_many_steps", str(STEPS_BY_NIGHT), options=["--quiet"])
    assert shown(tmp_path / "run", "steps")["steps"] == STEPS_BY_NIGHT + 50_000
    for view in ("steps", "summary"):
        _, size = asked(tmp_path / "run", view)
        assert size < 500 * MB, view


# --- many functions -------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_functions_cost_memory_in_proportion_to_their_number(count: int, tmp_path: Path) -> None:
    done = record(tmp_path, "many_functions", str(count), options=["--quiet"])
    total, before, after = json.loads(done.stdout)
    assert total == count * (count + 1) // 2
    plain = subprocess.run(
        [sys.executable, str(PROGRAMS / "many_functions.py"), str(count)],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    _, plain_before, plain_after = json.loads(plain.stdout)
    added = after["Rss"] - before["Rss"] - (plain_after["Rss"] - plain_before["Rss"])
    assert added < 20 * MB + count * BYTES_A_FUNCTION
    for view in ("steps", "summary", "lines"):
        _, size = asked(tmp_path / "run", view)
        assert size < 500 * MB, view
