"""The .lprof export, opened by the real line_profiler in a process of its own."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hand_made_answers as made
from build import CWD, MS, RunBuilder
from stepscope.analyze.code.lines import lines
from stepscope.analyze.run import load
from stepscope.errors import InputError
from stepscope.model import FunctionLines, LinesAnswer
from stepscope.show.exporters.lprof import UNIT_S, export, timings_of
from stepscope.store import lprof

READ_WITH_LINE_PROFILER = """
import json, sys
from line_profiler import load_stats
stats = load_stats(sys.argv[1])
json.dump({"unit": stats.unit, "timings": [[*key, rows] for key, rows in stats.timings.items()]},
          sys.stdout)
"""


def test_line_profiler_reads_the_same_numbers(tmp_path: Path) -> None:
    path = tmp_path / "run.lprof"
    path.write_bytes(lprof.encode(timings_of(made.LINES, cwd=str(tmp_path)), UNIT_S))
    command = [sys.executable, "-c", READ_WITH_LINE_PROFILER, str(path)]
    read_back = json.loads(
        subprocess.run(command, capture_output=True, check=True, text=True).stdout
    )
    assert read_back["unit"] == 1e-9
    assert read_back["timings"] == [
        [
            str(tmp_path / function.file),
            function.first_line,
            function.function,
            [[row.line, row.hits, row.ns] for row in function.lines],
        ]
        for function in made.LINES.functions
    ]


def test_line_profiler_s_own_viewer_shows_the_source_and_the_times(tmp_path: Path) -> None:
    source = "\n" * 27 + "\n".join(made.GET_DATASET_SOURCE) + "\n"
    (tmp_path / "train.py").write_text(source)
    only = LinesAnswer(functions=made.LINES.functions[:1])
    path = tmp_path / "run.lprof"
    path.write_bytes(lprof.encode(timings_of(only, cwd=str(tmp_path)), UNIT_S))
    command = [sys.executable, "-m", "line_profiler", str(path)]
    shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert "Total time: 3.5 s" in shown
    assert "Function: get_dataset at line 28" in shown
    row = next(line for line in shown.splitlines() if "archive['images']" in line)
    assert row.split()[:5] == ["32", "60", "3400000.0", "56666.7", "97.1"]


MODULE = """import json
import math

total = 0
if total:
    total = 1
else:
    for number in range(20000):
        total += math.sqrt(number)
print(json.dumps(
    total > 0,
))
"""


def test_line_profiler_s_own_viewer_shows_where_a_module_spends_its_time(tmp_path: Path) -> None:
    """The viewer takes the first statement of a module for the whole of it."""
    (tmp_path / "train.py").write_text(MODULE)
    record = [sys.executable, "-m", "stepscope", "run", "--quiet", "-o", "run", "train.py"]
    subprocess.run(record, cwd=tmp_path, check=True, capture_output=True)
    run = load(tmp_path / "run")
    path = tmp_path / "run.lprof"
    path.write_bytes(export(run))
    command = [sys.executable, "-m", "line_profiler", str(path)]
    shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    (hottest,) = (line for line in shown.splitlines() if "math.sqrt" in line)
    assert hottest.split()[:2] == ["9", "20000"]
    timings, _ = lprof.decode(path.read_bytes())
    exported = {line: hits for rows in timings.values() for line, hits, _ in rows}
    assert exported == {
        line.line: line.hits for each in lines(run).functions for line in each.lines
    }


def test_a_module_without_its_text_is_one_entry() -> None:
    rows = [made.line(line, 1, line, None) for line in (1, 5, 9)]
    module = FunctionLines(
        file="train.py",
        function="<module>",
        first_line=1,
        process=made.MAIN,
        total_ns=15,
        lines=rows,
    )
    timings = timings_of(LinesAnswer(functions=[module]), cwd="/")
    assert timings == {("/train.py", 1, "<module>"): [(1, 1, 1), (5, 1, 5), (9, 1, 9)]}


def test_nothing_of_line_profiler_is_needed_to_write_a_file() -> None:
    code = (
        "import sys; sys.modules['line_profiler'] = None; from stepscope.store import lprof;"
        "print(len(lprof.encode({('a.py', 1, 'f'): [(2, 3, 4)]}, 1e-9)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert int(done.stdout) > 0


def test_only_the_main_process_is_exported_unless_another_is_named(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    for pid, role in ((11, "main"), (12, "worker"), (13, "worker")):
        process = builder.process(pid=pid, role=role)
        code = process.code(f"{role}s_work", first_line=10)
        process.lines(code, 10, [(pid, MS), (0, 0)])
        process.write(ended_ns=5 * MS)
    run = load(tmp_path / "run")
    path = f"{CWD}/train.py"
    assert lprof.decode(export(run)) == ({(path, 10, "mains_work"): [(10, 11, MS)]}, 1e-9)
    worker = lprof.decode(export(run, process=13))
    assert worker == ({(path, 10, "workers_work"): [(10, 13, MS)]}, 1e-9)
    with pytest.raises(InputError, match="has no process 14"):
        export(run, process=14)


@given(
    st.dictionaries(
        st.tuples(st.text(), st.integers(1, 10**6), st.text()),
        st.lists(st.tuples(st.integers(1), st.integers(0), st.integers(0))),
    ),
    st.floats(1e-12, 1.0),
)
def test_what_was_written_is_what_is_read(timings: lprof.Timings, unit_s: float) -> None:
    assert lprof.decode(lprof.encode(timings, unit_s)) == (timings, unit_s)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a pickle",
        pickle.dumps({"a": 1}),
        pickle.dumps(print),
        b"cos\nsystem\n(S'true'\ntR.",
    ],
)
def test_a_file_that_is_not_line_statistics_is_refused_and_runs_nothing(content: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError):
        lprof.decode(content)
