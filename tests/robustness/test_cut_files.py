"""A run file that another program cuts while it is being written: the script goes on."""

import signal
from pathlib import Path

import pytest

from asking import answer as shown
from nights import nightly_but
from robustness.running import record

TOTAL = sum(sum(len(str(i)) for i in range(40)) + number % 60 + 3 for number in range(150)) * 2
TOTAL += sum(1 + number for number in range(60))
TOTAL += sum(sum(len(str(i)) for i in range(40)) + number + 3 for number in range(5)) % 100
FILES = ["events.bin", "lines.bin", "samples.bin", "calls.bin", "names.jsonl", "*.*"]
LENGTHS = [0, 64, 4096, 10_000]
CASES = [(file, length) for file in FILES for length in LENGTHS]


def cut(folder: Path, which: str, length: int, how: str = "plain") -> tuple[int, str, str]:
    options = ["--calls"] if which in ("calls.bin", "*.*") else []
    run = folder / "run"
    done = record(folder, "its_run_is_cut", str(run), which, str(length), how, options=options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("case"), nightly_but([("lines.bin", 64), ("*.*", 0)], CASES), ids=str)
def test_a_script_survives_that_its_run_is_cut(case: tuple[str, int], tmp_path: Path) -> None:
    which, length = case
    status, said, talk = cut(tmp_path, which, length)
    assert (status, said) == (0, f"{TOTAL}\n"), talk
    assert "Traceback" not in talk


def test_what_was_recorded_before_the_cut_is_there_and_the_run_says_so(tmp_path: Path) -> None:
    cut(tmp_path, "events.bin", 12_000)
    run = tmp_path / "run"
    assert 1 < shown(run, "steps")["steps"] < 150
    notes = "".join(path.read_text() for path in run.glob("proc-*/names.jsonl"))
    assert "events stopped: another program cut the file." in notes


def test_the_scripts_own_handler_of_sigbus_still_hears_its_signals(tmp_path: Path) -> None:
    status, said, talk = cut(tmp_path, "lines.bin", 4096, "own handler")
    assert (status, said) == (0, f"{TOTAL}\n"), talk


def test_faulthandler_reports_a_bus_error_that_is_not_ours(tmp_path: Path) -> None:
    status, said, talk = cut(tmp_path, "lines.bin", 4096, "faulthandler")
    assert (status, said) == (-signal.SIGBUS, f"{TOTAL}\n"), talk
    assert talk.count("Fatal Python error: Bus error") == 1
