"""`stepscope show` and `export`, from the command line to stdout."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from build import MS, RunBuilder
from stepscope.cli.main import main
from stepscope.cli.show import sort_out
from stepscope.errors import InputError
from stepscope.store import lprof
from stepscope.views import VIEWS

SOURCE = """\
def train(batches):
    total = 0
    for batch in batches:
        total += step(batch)
    return total
"""


@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two functions, thirty steps of 10 ms, in ./stepscope-runs/train-1."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "stepscope-runs" / "train-1"
    process = RunBuilder(path).process(pid=4711)
    file = process.file(text=SOURCE)
    train = process.code("train", file=file, first_line=1)
    scale = process.code("Scaler.scale", file=file, first_line=30)
    process.lines(train, 1, [(0, 0), (1, MS), (31, 2 * MS), (30, 290 * MS), (1, MS)])
    process.lines(scale, 30, [(5_000, 40 * MS)])
    process.for_loop(process.loop(train, 3, 4), MS, [10 * MS] * 30)
    process.write(ended_ns=400 * MS)
    return path


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["show", *words, "--json"]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return json.loads(output.out)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), (None, "summary")),
        (("lines",), (None, "lines")),
        (("runs/a",), ("runs/a", "summary")),
        (("runs/a", "memory"), ("runs/a", "memory")),
        (("lines", "lines"), ("lines", "lines")),
    ],
)
def test_words_are_a_run_a_view_or_both(
    words: tuple[str, ...], expected: tuple[str | None, str]
) -> None:
    assert sort_out(words) == expected


@pytest.mark.parametrize("words", [("a", "b", "c"), ("runs/a", "linse"), ("linse",)])
def test_words_that_are_neither_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        sort_out(words)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_a_page_and_a_json_of_a_real_folder(
    view: str, run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(run_folder), view]) == 0
    page = capsys.readouterr()
    assert page.out.strip()
    assert page.err == ""
    assert isinstance(answer(capsys, str(run_folder), view), dict)


def test_without_a_run_the_newest_one_is_shown(
    run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = RunBuilder(run_folder.parent / "old-1")
    old.process().write()
    os.utime(old.path / "run.json", (1, 1))
    assert answer(capsys)["run"].endswith("train-1")


def test_without_any_run_it_is_said_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["show"]) == 2
    assert "stepscope run" in capsys.readouterr().err


def test_a_missing_run_is_one_line_and_an_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(tmp_path / "absent")]) != 0
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("stepscope: ")
    assert output.err.count("\n") == 1


def test_lines_are_chosen_by_function_and_file(
    run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def functions(*options: str) -> list[str]:
        output = answer(capsys, "lines", *options)
        return [function["function"] for function in output["functions"]]

    assert functions() == ["train", "Scaler.scale"]
    assert functions("--function", "scale") == ["Scaler.scale"]
    assert functions("--function", "scale", "--function", "train") == ["train", "Scaler.scale"]
    assert functions("--file", "train.*") == ["train", "Scaler.scale"]
    assert functions("--top", "1") == ["train"]
    assert functions("--sort", "hits") == ["Scaler.scale", "train"]


def test_the_lines_page_has_line_profiler_s_columns_and_the_whole_source(
    run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "lines", "--function", "train", "--unit", "ms"]) == 0
    page = capsys.readouterr().out.splitlines()
    heads = page[1].split()
    assert " ".join(heads) == "Line # Hits Time (ms) Per Hit (ms) % Time Line Contents"
    rows = {row.split()[0]: row for row in page[3:8]}
    assert rows["1"].split() == ["1", "def", "train(batches):"]
    assert rows["4"].split()[:5] == ["4", "30", "290.0", "9.67", "98.6"]
    assert rows["4"].endswith("        total += step(batch)")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns", "1e-6"])
def test_units_are_names_or_seconds(
    unit: str, run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "lines", "--unit", unit]) == 0
    assert "Time (" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["steps", "--unit", "ms"], "belongs to 'stepscope show lines'"),
        (["lines", "--each"], "belongs to 'stepscope show steps'"),
        (["findings", "--sort", "time"], "has no rows to sort"),
        (["--sort", "foo"], "'summary' has no rows to sort"),
        (["steps", "--sort", "time"], "with --each only"),
        (["steps", "--top", "3"], "with --each only"),
        (["--process", "999999"], "Its processes are: "),
        (["lines", "--sort", "colour"], "It sorts by"),
        (["lines", "--function", "nobody"], "No recorded function matches"),
        (["lines", "--process", "1"], "has no process 1"),
        (["lines", "--unit", "parsec"], "not s, ms, us, ns"),
        (["lines", "--unit", "-1"], "not s, ms, us, ns"),
    ],
)
def test_an_option_that_does_not_fit_is_reported(
    words: list[str], output: str, run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert output in said.err


def test_each_adds_the_single_steps(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "each" not in answer(capsys, "steps")
    each = answer(capsys, "steps", "--each")["each"]
    assert len(each) == 30
    assert {step["duration_ns"] for step in each} == {10 * MS}
    assert len(answer(capsys, "steps", "--each", "--top", "3")["each"]) == 3


def test_json_is_for_machines_on_one_line_in_a_pipe(run_folder: Path) -> None:
    command = [sys.executable, "-m", "stepscope", "show", str(run_folder), "lines", "--json"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout.count(b"\n") == 1
    assert json.loads(done.stdout)["functions"][0]["function"] == "train"


def test_a_reader_that_leaves_early_gets_no_traceback(run_folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "stepscope", "show", str(run_folder)]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert done.stderr == b""


def test_export_writes_what_show_lines_says(
    run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "--to", "lprof"]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert "python -m line_profiler train-1.lprof" in output.err
    timings, unit_s = lprof.read("train-1.lprof")
    shown = answer(capsys, "lines")["functions"]
    assert unit_s == 1e-9
    assert list(timings.values()) == [
        [(line["line"], line["hits"], line["ns"]) for line in function["lines"]]
        for function in shown
    ]


def test_export_into_nowhere_says_so(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--to", "lprof", "-o", "/nowhere/at/all.lprof"]) == 4
    assert "Cannot write '/nowhere/at/all.lprof'" in capsys.readouterr().err
