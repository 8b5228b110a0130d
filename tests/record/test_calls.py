"""`stepscope run --calls`: the counts of cProfile, on whole programs in separate processes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clean_environment import environment
from compared_calls import COMPARED, THROWN_PAST
from record.call_counts import (
    PROGRAMS,
    Counted,
    Function,
    answer_of,
    record,
    under_cprofile,
    under_stepscope,
)
from transparency.both import PATIENCE_S


@pytest.mark.parametrize("program", COMPARED, ids=lambda path: path.stem)
def test_calls_primitive_calls_and_callers_are_those_of_cprofile(
    program: Path, tmp_path: Path
) -> None:
    theirs, ours = under_cprofile(program, tmp_path), under_stepscope(program, tmp_path)
    if sys.version_info < (3, 12) and program.stem in THROWN_PAST:
        assert _calls(ours.functions) == _calls(theirs.functions)
        return
    assert ours.functions == theirs.functions
    assert ours.pairs == theirs.pairs


def _calls(counted: dict[Function, Counted]) -> dict[Function, int]:
    return {function: calls for function, (calls, _) in counted.items()}


def calls_in(folder: Path, function: str) -> list[tuple[int | None, int | None]]:
    return [
        (row.ncalls, row.primitive_calls)
        for row in answer_of(folder).functions
        if row.function == function
    ]


def program(name: str) -> Path:
    return PROGRAMS / "calls" / f"{name}.py"


def test_deep_recursion_is_counted_to_its_end(tmp_path: Path) -> None:
    done = record(program("deep_recursion"), tmp_path, "20000")
    assert (done.returncode, done.stdout) == (0, "20000\n"), done.stderr
    assert calls_in(tmp_path, "deep") == [(20_001, 1)]


@pytest.mark.nightly
def test_a_hundred_thousand_functions_each_have_their_row(tmp_path: Path) -> None:
    done = record(program("many_functions"), tmp_path, "100000")
    assert done.returncode == 0, done.stderr
    made = {row.function: row.ncalls for row in answer_of(tmp_path).functions
            if row.file.endswith("made.py") and row.function != "<module>"}  # fmt: skip
    assert len(made) == 100_000
    assert set(made.values()) == {2}


def test_threads_by_the_thousand_count_every_call_and_little_space(tmp_path: Path) -> None:
    done = record(program("many_threads"), tmp_path, "2000")
    assert done.returncode == 0, done.stderr
    assert calls_in(tmp_path, "work") == [(2000, 2000)]
    assert calls_in(tmp_path, "leaf") == [(10_000, 10_000)]
    (file,) = (tmp_path / "run").glob("proc-*/calls.bin")
    assert file.stat().st_size < 4 * 2**20


def test_times_add_up_and_nest(tmp_path: Path) -> None:
    record(program("recursion_of_many_kinds"), tmp_path)
    rows = {(row.file, row.line, row.function): row for row in answer_of(tmp_path).functions}
    for row in rows.values():
        assert 0 <= (row.tottime_ns or 0) <= (row.cumtime_ns or 0)
        called_ns = sum(caller.tottime_ns for caller in row.callers)
        assert called_ns <= (row.tottime_ns or 0) + len(row.callers)  # a ns of rounding each
    (module,) = (row for row in rows.values() if row.function == "<module>" and row.line == 1)
    assert (module.cumtime_ns or 0) >= max(row.cumtime_ns or 0 for row in rows.values()) * 0.99


def test_our_own_functions_never_show(tmp_path: Path) -> None:
    assert record(program("marks_of_stepscope"), tmp_path).returncode == 0
    answer = answer_of(tmp_path)
    ours = str(PROGRAMS.parent.parent / "stepscope") + "/"
    names = {(row.file, row.function) for row in answer.functions}
    assert not [name for name in names if name[0].startswith(ours) or "_core." in name[1]]
    assert calls_in(tmp_path, "profiled") == [(4, 4)]
    assert calls_in(tmp_path, "squared") == [(4, 4)]
    assert calls_in(tmp_path, "batches") == [(5, 5)]
    (profiled,) = (row for row in answer.functions if row.function == "profiled")
    assert [caller.function for caller in profiled.callers] == ["<module>"]


def test_the_scripts_own_profiler_works_and_wins_where_there_is_only_one(tmp_path: Path) -> None:
    done = record(program("its_own_profiler"), tmp_path)
    assert done.stdout == "10 10 None\n", done.stderr
    assert calls_in(tmp_path, "before") == [(10, 10)]
    notes = " ".join(answer_of(tmp_path).notes)
    if sys.version_info < (3, 12):
        assert calls_in(tmp_path, "during") == calls_in(tmp_path, "after") == []
        assert "set its own profile function" in notes
    else:
        assert calls_in(tmp_path, "during") == calls_in(tmp_path, "after") == [(10, 10)]
        assert "profile function" not in notes


def test_a_forked_child_counts_in_a_folder_of_its_own(tmp_path: Path) -> None:
    assert record(program("forks"), tmp_path).returncode == 0
    rows = {row.function: row for row in answer_of(tmp_path).functions}
    assert (rows["in_child"].process.role, rows["in_child"].ncalls) == ("worker", 10)
    assert (rows["in_parent"].process.role, rows["in_parent"].ncalls) == ("main", 2)


def test_a_killed_process_keeps_its_counts_and_the_time_of_open_calls(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "stepscope", "run", "--calls", "--quiet", "-o", "run"]
    with subprocess.Popen(
        [*words, str(program("until_killed"))],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        heard = [process.stdout.readline() for _ in range(50)]
        (about,) = (tmp_path / "run").glob("proc-*/process.json")
        os.kill(json.loads(about.read_text())["pid"], signal.SIGKILL)
        said = int((heard + process.stdout.readlines())[-1])
        process.wait(PATIENCE_S)
    answer = answer_of(tmp_path)
    rows = {row.function: row for row in answer.functions}
    outer, leaf, module = rows["outer"], rows["leaf"], rows["<module>"]
    assert answer.exact
    assert said <= (outer.ncalls or 0) <= said + 200
    assert 0 <= (outer.ncalls or 0) - (leaf.ncalls or 0) <= 1
    assert module.ncalls == 1
    assert (module.cumtime_ns or 0) > (outer.cumtime_ns or 0) > (leaf.cumtime_ns or 0) > 0


def test_calls_of_a_block_are_recorded_by_the_profiler(tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text(
        "import stepscope\n"
        "def f(): return len('x')\n"
        "f()\n"
        "with stepscope.Profiler('run', calls=True):\n"
        "    f(), f()\n"
        "f()\n"
    )
    subprocess.run([sys.executable, str(script)], cwd=tmp_path, env=environment(), check=True)
    assert calls_in(tmp_path, "f") == [(2, 2)]


def test_a_module_of_the_standard_library_is_recorded_from_its_first_line(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "stepscope", "run", "--calls", "--quiet", "-o", "run"]
    done = subprocess.run([*words, "-m", "json.tool"], cwd=tmp_path, env=environment(),
                          input=b"[1]", capture_output=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert calls_in(tmp_path, "main") == [(1, 1)]
