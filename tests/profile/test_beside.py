"""`stepscope.Profile` beside a recording and beside LineProfiler: each counts as if alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from clean_environment import environment
from profile_counts import PROGRAMS
from record.call_counts import answer_of, record
from stepscope import LineProfiler, Profile
from transparency.both import PATIENCE_S

ITSELF = PROGRAMS / "profile" / "profiles_itself.py"
INSIDE = PROGRAMS / "profile" / "records_inside.py"
SAID = "[('during', (55, 45)), ('many', (1, 0))] None\n"


def recorded(folder: Path) -> dict[str, tuple[int | None, int | None]]:
    rows = answer_of(folder).functions
    return {row.function: (row.ncalls, row.primitive_calls) for row in rows}


def python(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


def test_a_script_that_profiles_itself_is_recorded_with_all_of_its_calls(tmp_path: Path) -> None:
    plain = python(ITSELF, folder=tmp_path)
    done = record(ITSELF, tmp_path)
    assert plain.stdout == done.stdout == SAID, done.stderr
    counts = recorded(tmp_path)
    assert counts["before"] == counts["elsewhere"] == counts["after"] == (10, 10)
    assert counts["during"] == (55, 10)
    assert counts["many"] == (4, 4)
    assert "profile function" not in " ".join(answer_of(tmp_path).notes)
    ours = [row for row in answer_of(tmp_path).functions if "stepscope/profile" in row.file]
    assert not ours


def test_lines_are_recorded_beside_it(tmp_path: Path) -> None:
    done = python(*("-m", "stepscope", "run", "--quiet", "-o", "run"), str(ITSELF), folder=tmp_path)
    assert done.stdout == SAID, done.stderr
    assert recorded(tmp_path)["during"][0] == 55


def test_a_recording_may_begin_and_end_while_it_profiles(tmp_path: Path) -> None:
    done = python(INSIDE, tmp_path / "run", folder=tmp_path)
    said = [(name, 10) for name in ("after", "before", "during")]
    assert done.stdout == f"{[*said, ('many', 3)]}\n", done.stderr
    counts = recorded(tmp_path)
    assert counts["during"] == (10, 10)
    assert not {"before", "after"} & counts.keys()


@pytest.mark.parametrize("lines_first", [True, False])
def test_lines_are_profiled_beside_it(lines_first: bool) -> None:
    def body(n: int) -> int:
        total = 0
        for i in range(n):
            total += abs(i)
        return total

    lines, calls = LineProfiler(body), Profile()
    outer, inner = (lines, calls) if lines_first else (calls, lines)
    with outer, inner:
        body(5)
    (rows,) = lines.get_stats().timings.values()
    assert [hits for _, hits, _ in rows] == [1, 6, 5, 1]
    counted = {
        entry.code if isinstance(entry.code, str) else entry.code.co_name: entry.callcount
        for entry in calls.getstats()
    }
    assert (counted["body"], counted["<built-in method builtins.abs>"]) == (1, 5)
    (code,) = (entry.code for entry in calls.getstats() if "body" in str(entry.code))
    assert not isinstance(code, str)
    assert {type(constant) for constant in code.co_consts} <= {type(None), int}  # none of our ticks
