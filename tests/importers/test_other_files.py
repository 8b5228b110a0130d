"""Files of profilers that write no operators: what each has is in the views of a run."""

import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

from small_traces import (
    stacks_trace,
    tensorflow_json,
    viztracer_json,
    write_pstats,
    write_snapshot,
)
from stepscope.analyze.answers.memory import memory
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.code.functions import functions
from stepscope.analyze.code.lines import lines
from stepscope.analyze.operators.device import device
from stepscope.analyze.operators.operators import ops
from stepscope.analyze.traces.foreign import load_any
from stepscope.errors import DataError
from stepscope.importers.importer import importer_of
from stepscope.importers.plain_marshal import read_plain_marshal
from stepscope.store import lprof
from stepscope.store.plain_pickle import read_plain_pickle


def test_cprofiles_statistics_are_functions_with_their_callers(tmp_path: Path) -> None:
    answer = functions(load_any(write_pstats(tmp_path / "train.prof")))
    inner, outer = answer.functions
    assert answer.exact
    assert (inner.function, inner.ncalls, inner.tottime_ns) == ("inner", 3, 750_000_000)
    assert (outer.ncalls, outer.primitive_calls, outer.cumtime_ns) == (2, 1, 1_000_000_000)
    assert [(each.function, each.ncalls) for each in inner.callers] == [("outer", 3)]


def test_of_statistics_without_steps_the_summary_says_what_is_there(tmp_path: Path) -> None:
    answer = summary(load_any(write_pstats(tmp_path / "train.prof")))
    assert answer.is_trace
    assert answer.has == ["summary", "functions", "processes"]
    assert answer.contents == ["5 calls of 2 functions: 75.0 % of the time in inner (train.py:5)"]


def test_line_profilers_file_has_lines(tmp_path: Path) -> None:
    path = tmp_path / "train.lprof"
    path.write_bytes(lprof.encode({("train.py", 3, "work"): [(4, 2, 5), (7, 1, 30)]}, 1e-6))
    (function,) = lines(load_any(path)).functions
    found = [(row.line, row.hits, row.ns) for row in function.lines]
    assert (function.function, found) == ("work", [(4, 2, 5_000), (7, 1, 30_000)])


def test_a_memory_snapshot_has_memory_over_time_and_who_keeps_it(tmp_path: Path) -> None:
    answer = memory(load_any(write_snapshot(tmp_path / "snapshot.pickle")))
    (row,) = answer.processes
    assert (row.first_bytes, row.peak_bytes, row.last_bytes) == (150, 350, 250)
    kept = {each.location.file: (each.kept_bytes, each.alloc_bytes) for each in answer.lines or []}
    assert kept == {"/home/ada/train.py": (200, 300), "?": (50, 0)}


def test_stacks_of_a_trace_are_functions_and_places_of_operators(tmp_path: Path) -> None:
    run = load_any(stacks_trace(tmp_path / "stacks.json"))
    found = {row.function: row for row in functions(run).functions}
    assert (found["main"].ncalls, found["main"].tottime_ns) == (1, 40_000)
    assert (found["work"].ncalls, found["work"].cumtime_ns) == (2, 60_000)
    assert found["work"].tottime_ns == 30_000
    assert [each.function for each in found["forward"].callers] == ["work"]
    # linear.py is torch's own: the line that counts is the user's.
    places = {row.name: row.location for row in ops(run).ops}
    assert {(at.file, at.line) for at in places.values() if at} == {("train.py", 9)}
    assert set(places) >= {"aten::add", "aten::mm"}


def test_memory_events_of_a_trace_are_memory(tmp_path: Path) -> None:
    (row,) = memory(load_any(stacks_trace(tmp_path / "stacks.json"))).processes
    assert (row.first_bytes, row.peak_bytes, row.last_bytes) == (400, 1400, 1000)


def test_viztracers_calls_are_functions(tmp_path: Path) -> None:
    path = viztracer_json(tmp_path / "result.json")
    assert "VizTracer" in importer_of(path).label
    rows = functions(load_any(path)).functions
    found = [(row.file, row.line, row.function, row.tottime_ns) for row in rows]
    assert found == [
        ("~", 0, "builtins.sum", 50_000),
        ("/home/ada/train.py", 2, "outer", 30_000),
        ("/home/ada/train.py", 1, "inner", 10_000),
    ]


def test_tensorflows_json_has_steps_operators_and_the_rows_of_devices(tmp_path: Path) -> None:
    run = load_any(tensorflow_json(tmp_path / "host.trace.json.gz"))
    answer = steps(run)
    assert (answer.steps, answer.step_ms and answer.step_ms.mean) == (2, 0.1)
    assert {row.name for row in ops(run).ops} >= {"MatMul", "dot"}
    (gpu,) = device(run).ranks
    assert [(each.name, each.calls, each.total_ns) for each in gpu.kernels] == [("gemm", 2, 50_000)]


def test_a_zip_archive_with_a_trace_is_that_trace(tmp_path: Path) -> None:
    inside = stacks_trace(tmp_path / "stacks.json")
    with zipfile.ZipFile(tmp_path / "traces.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(inside, "stacks.json")
        archive.writestr("readme.txt", "short")
    run = load_any(tmp_path / "traces.zip")
    assert ops(run).self_cpu_ns == ops(load_any(inside)).self_cpu_ns > 0


def test_a_damaged_archive_says_so(tmp_path: Path) -> None:
    (tmp_path / "traces.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(DataError, match="cannot be unpacked"):
        load_any(tmp_path / "traces.zip")


# --- what runs no code ----------------------------------------------------------------------------


class Malicious:
    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("a pickle ran code",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_wants_to_run_code_is_refused(protocol: int, tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps({"segments": [Malicious()], "device_traces": []}, protocol))
    with pytest.raises(DataError, match="refused: it is a pickle that wants to import a name"):
        load_any(path)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_pickles_are_read_as_python_reads_them(protocol: int) -> None:
    numbers = [0, 255, 256, 65_536, -1, 2**31, 2**70, -(2**70), 1.5, True, False, None]
    value = {"ü": numbers, "t": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], (1, "a"): [[], {}]}
    value["again"] = value["ü"]
    assert read_plain_pickle(pickle.dumps(value, protocol), "x") == value


def test_a_pickle_that_asks_for_memory_gets_none() -> None:
    assert read_plain_pickle(b"\x80\x02]r\xff\xff\xff\xff.", "x") == []  # kept under 2**32 - 1
    with pytest.raises(DataError, match="damaged"):
        read_plain_pickle(b"\x80\x04\x8d" + b"\xff" * 8 + b"x.", "x")  # a text of 2**64 - 1


@pytest.mark.parametrize("kind", ["train.prof", "snapshot.pickle"])
def test_cut_anywhere_they_are_damaged_and_say_so(kind: str, tmp_path: Path) -> None:
    write = write_pstats if kind == "train.prof" else write_snapshot
    content = write(tmp_path / kind).read_bytes()
    read = read_plain_marshal if kind == "train.prof" else read_plain_pickle
    for size in range(len(content)):
        with pytest.raises(DataError):
            read(content[:size], kind)
