"""Threads by the thousand and code objects by the ten thousand: nothing piles up."""

import json
from pathlib import Path

import pytest

from asking import answer as shown
from robustness.running import record

GROWTH_BYTES = 3 * 2**20  # 3 KB a thread and code object would be found


def check(count: int, folder: Path) -> None:
    done = record(folder, "many_threads_and_codes", str(count), options=["--quiet", "--exact"])
    assert done.returncode == 0, done.stderr
    held = json.loads(done.stdout)
    before, after = held["before"], held["after"]
    assert held["codes"] == count * 5 * 3
    assert after["descriptors"] <= before["descriptors"]
    assert after["threads"] <= before["threads"]
    assert after["resident_bytes"] - before["resident_bytes"] < GROWTH_BYTES
    functions = shown(folder / "run", "lines", "--top", "1000000")["functions"]
    made = [each for each in functions if each["function"].startswith("made_")]
    assert len(made) == count * 5
    assert all(row["hits"] for each in made for row in each["lines"] if row["line"] > 1)


@pytest.mark.nightly
@pytest.mark.parametrize("count", [1000, 4000])
def test_thousands_of_threads_and_codes_leave_nothing(count: int, tmp_path: Path) -> None:
    check(count, tmp_path)
