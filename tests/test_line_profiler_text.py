"""What LineProfiler prints and writes: line_profiler's text, line_profiler's files."""

import gc
import io
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import line_profiler as real
import pytest

from profiled import FIRST, load, work
from stepscope.line_profiler import LineProfiler, LineStats, load_stats

SOURCE = work.__code__.co_filename


@pytest.fixture(autouse=True)
def profilers_are_gone() -> Iterator[None]:
    """A decorated function holds its profiler, and that the engine, until it is collected."""
    yield
    gc.collect()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"output_unit": 1e-3},
        {"stripzeros": True},
        {"summarize": True, "details": False},
        {"sort": True, "summarize": True, "stripzeros": True},
        {"output_unit": 1e-12},
    ],
)
def test_the_printed_text_is_line_profiler_s(options: dict[str, Any]) -> None:
    first = FIRST
    timings = {
        (SOURCE, first, "work"): [(first + 1, 1, 900), (first + 2, 11, 12_345_678_901_234)],
        (SOURCE, load.__code__.co_firstlineno, "load"): [],
        ("/nowhere/gone.py", 3, "gone"): [(4, 1_234_567_890_123, 5), (7, 1, 0)],
    }
    ours, theirs = io.StringIO(), io.StringIO()
    LineStats(timings, 1e-9).print(ours, **options)
    real.LineStats(timings, 1e-9).print(theirs, **options)
    assert ours.getvalue() == theirs.getvalue()


def test_print_stats_takes_line_profiler_s_options(capsys: pytest.CaptureFixture[str]) -> None:
    profiler = LineProfiler()
    profiler(work)(3)
    profiler.print_stats(output_unit=1e-6, stripzeros=True, summarize=True, sort=True)
    shown = capsys.readouterr().out
    assert shown.startswith("Timer unit: 1e-06 s")
    assert "total += i" in shown
    assert f"{SOURCE}:{FIRST} - work" in shown
    out = io.StringIO()
    profiler.print_stats(stream=out, rich=True)
    assert "\x1b[" in out.getvalue()
    assert "total" in out.getvalue()


def test_a_stream_that_cannot_encode_the_source_gets_escapes(tmp_path: Path) -> None:
    path = tmp_path / "greeting.py"
    path.write_text("def f():\n    return 'grüße'\n", encoding="utf-8")
    content = io.BytesIO()
    out = io.TextIOWrapper(content, encoding="ascii")
    LineStats({(str(path), 1, "f"): [(2, 1, 5)]}, 1e-9).print(out)
    out.flush()
    assert rb"return 'gr\xfc\xdfe'" in content.getvalue()


def test_dumped_statistics_open_in_line_profiler_and_here(tmp_path: Path) -> None:
    profiler = LineProfiler()
    profiler(work)(3)
    path = tmp_path / "work.lprof"
    profiler.dump_stats(path)
    stats = profiler.get_stats()
    assert load_stats(path) == stats
    assert real.load_stats(str(path)).timings == stats.timings
    command = [sys.executable, "-m", "line_profiler", str(path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Function: work" in shown


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_statistics_are_read_here(tmp_path: Path, protocol: int) -> None:
    stats = LineStats({("a.py", 1, "f"): [(2, 3, 4)]}, 1e-9)
    (tmp_path / "pickled").write_bytes(pickle.dumps(stats, protocol))
    assert load_stats(tmp_path / "pickled") == stats


def test_line_profiler_s_files_are_read_here(tmp_path: Path) -> None:
    path = tmp_path / "real.lprof"
    stats = real.LineStats({("a.py", 1, "f"): [(2, 3, 4)]}, 1e-6)
    stats.to_file(str(path))
    assert load_stats(path) == stats


def test_statistics_add_up_in_the_coarser_unit() -> None:
    one = LineStats({("a.py", 1, "f"): [(2, 10, 3000)]}, 1e-9)
    two = LineStats({("a.py", 1, "f"): [(2, 1, 5), (3, 1, 1)], ("b.py", 1, "g"): []}, 1e-6)
    total = LineStats({("a.py", 1, "f"): [(2, 11, 8), (3, 1, 1)], ("b.py", 1, "g"): []}, 1e-6)
    assert one + two == two + one == total
    one += two
    assert one == total
