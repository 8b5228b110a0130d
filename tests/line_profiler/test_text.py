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

import needs
from profiled import FIRST, load, work
from stepscope.line_profiler import LineProfiler, LineStats, load_stats
from stepscope.line_profiler.settings import column_widths

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


def in_folder(folder: Path, text: str, name: str = "line_profiler.toml") -> Path:
    file = folder / name
    file.write_text(f"[tool.line_profiler.show.column_widths]\n{text}\n")
    return file


def test_widths_come_from_line_profilers_settings_as_its_own_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = needs.module("line_profiler.line_profiler")
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    monkeypatch.delenv("LINE_PROFILER_RC", raising=False)
    file = in_folder(tmp_path, "time = 20\nhits = 3")
    for config in (None, True, str(file)):
        assert column_widths(config) == (6, 9, 20, 8, 8)
    assert column_widths(False) == (6, 9, 12, 8, 8)
    theirs.get_column_widths.cache_clear()
    read = theirs.get_column_widths(str(file))
    assert (read["time"], read["hits"]) == (20, 3)
    monkeypatch.setenv("LINE_PROFILER_RC", str(in_folder(tmp_path, "perhit = 11", "rc.toml")))
    assert column_widths(None) == (6, 9, 12, 11, 8)
    monkeypatch.setenv("LINE_PROFILER_RC", str(in_folder(tmp_path, "perhit = 'wide'", "rc.toml")))
    assert column_widths(None) == (6, 9, 12, 8, 8)


def test_settings_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.toml"):
        column_widths(tmp_path / "nowhere.toml")
    with pytest.raises(ValueError, match="'colour = 3', which is not the width of a column"):
        column_widths(in_folder(tmp_path, "colour = 3"))
    with pytest.raises(ValueError, match="Cannot read the settings"):
        column_widths(in_folder(tmp_path, "= ="))
    with pytest.raises(TypeError, match="colour"):
        LineProfiler(colour="red")  # type: ignore[call-arg]  # on purpose
    LineProfiler(wrap_trace=True, set_frame_local_trace=False)


def test_a_table_has_the_widths_of_the_settings(tmp_path: Path) -> None:
    profiler = LineProfiler(in_folder)
    with profiler:
        file = in_folder(tmp_path, "hits = 15")
    out = io.StringIO()
    profiler.print_stats(out, config=file)
    assert "Line #            Hits         Time" in out.getvalue()
