"""`%stepline` in a real shell: what is counted, what is printed, and the error messages."""

import builtins
from pathlib import Path
from typing import Any

import pytest

import needs
from ipython.shells import HITS_OF_WORK, WORK, RunCell, hits_by_function
from stepscope.line_profiler import LineProfiler, load_stats

Output = pytest.CaptureFixture[str]
MODULE = "def double(x):\n    return 2 * x\n\n\ndef triple(x):\n    return 3 * x\n"


@pytest.fixture
def module(cell: RunCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that no test has imported before."""
    name = f"module_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_function_of_a_cell_is_counted(shell: Any, cell: RunCell) -> None:
    profiler = shell.run_line_magic("stepline", "-r -f work work(5)")
    assert isinstance(profiler, LineProfiler)
    assert hits_by_function(profiler) == {"work": HITS_OF_WORK}


def test_hits_are_those_of_lprun(shell: Any, cell: RunCell) -> None:
    needs.module("line_profiler")
    cell("%load_ext line_profiler")
    ours = shell.run_line_magic("stepline", "-r -f work work(7); work(2)")
    theirs = shell.run_line_magic("lprun", "-r -f work work(7); work(2)")
    assert hits_by_function(ours) == hits_by_function(theirs)


def test_the_table_has_the_text_of_the_cell(cell: RunCell, capsys: Output) -> None:
    assert cell("%stepline -f work work(5)").success
    printed = capsys.readouterr().out
    assert "Function: work at line 1" in printed
    row = next(line for line in printed.splitlines() if "total += number" in line)
    assert row.split()[:2] == ["4", "5"]


def test_without_r_nothing_is_returned(shell: Any, cell: RunCell) -> None:
    assert shell.run_line_magic("stepline", "-f work work(5)") is None


def test_a_function_that_is_defined_again_is_counted_anew(shell: Any, cell: RunCell) -> None:
    first = shell.run_line_magic("stepline", "-r -f work work(5)")
    cell("def work(n):\n    return sum(range(n))")
    second = shell.run_line_magic("stepline", "-r -f work work(5)")
    assert hits_by_function(first) == {"work": HITS_OF_WORK}
    assert hits_by_function(second) == {"work": {2: 1}}
    cell(WORK)
    third = shell.run_line_magic("stepline", "-r -f work work(5)")
    assert hits_by_function(third) == {"work": HITS_OF_WORK}


def test_several_functions_methods_and_classes(shell: Any, cell: RunCell) -> None:
    cell("class Net:\n  def forward(self):\n    return 1\n  def back(self):\n    return 2")
    method = shell.run_line_magic("stepline", "-r -f work -f Net.forward work(5); Net().forward()")
    assert hits_by_function(method) == {"work": HITS_OF_WORK, "Net.forward": {3: 1}}
    whole = shell.run_line_magic("stepline", "-r -f Net Net().forward(); Net().back()")
    assert hits_by_function(whole) == {"Net.forward": {3: 1}, "Net.back": {5: 1}}


def test_of_a_decorated_function_the_function_is_counted(shell: Any, cell: RunCell) -> None:
    cell("import functools\n@functools.cache\ndef cached(n):\n    return n")
    profiler = shell.run_line_magic("stepline", "-r -f cached cached(1); cached(1); cached(2)")
    assert hits_by_function(profiler) == {"cached": {4: 2}}


def test_a_dotted_name_needs_no_import(shell: Any, module: str) -> None:
    statement = f"__import__('{module}').double(1)"
    profiler = shell.run_line_magic("stepline", f"-r -f {module}.double {statement}")
    assert hits_by_function(profiler) == {"double": {2: 1}}


def test_a_module(shell: Any, module: str, capsys: Output) -> None:
    cells = f"import {module} as found\nfound.double(1)"
    profiler = shell.run_cell_magic("stepline", f"-r -m {module}", cells)
    assert hits_by_function(profiler) == {"double": {2: 1}, "triple": {}}
    assert "triple" in capsys.readouterr().out
    shell.run_cell_magic("stepline", f"-z -m {module}", cells)
    assert "triple" not in capsys.readouterr().out


def test_a_whole_cell(shell: Any, cell: RunCell, capsys: Output) -> None:
    text = "doubled = []\nfor x in range(3):\n    doubled.append(2 * x)\n\ndef last():\n"
    text += "    return doubled[-1]\n\nlast()\n"
    profiler = shell.run_cell_magic("stepline", "-r", text)
    # As a notebook numbers them: the magic is line 1.
    cells = {2: 1, 3: 4, 4: 3, 6: 1, 9: 1}
    assert hits_by_function(profiler) == {"<module>": cells, "last": {7: 1}}
    assert shell.user_ns["doubled"] == [0, 2, 4]
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert ["4", "3"] in [row[:2] for row in rows if "doubled.append(2" in " ".join(row)]
    assert [row[:2] for row in rows if row[-1:] == ["last()"]] == [["9", "1"]]


def test_a_cells_last_value_is_shown(cell: RunCell, capsys: Output) -> None:
    result = cell("%%stepline -f work\nwork(5)\nwork(3) + 0.25")
    assert result.success
    assert "3.25" in capsys.readouterr().out
    cell("%%stepline -f work\nwork(3) + 0.25;")
    assert "3.25" not in capsys.readouterr().out


def test_a_function_that_the_cell_defines_itself(shell: Any, cell: RunCell) -> None:
    text = "def work(n):\n    return n\nother = work(1)\nwork(2)"
    profiler = shell.run_cell_magic("stepline", "-r -f work", text)
    assert hits_by_function(profiler) == {"work": {3: 2}}


def test_closures_of_a_cell(shell: Any, cell: RunCell) -> None:
    text = (
        "def outer():\n    n = 1\n    def inner():\n        return n\n    return inner()\nouter()"
    )
    profiler = shell.run_cell_magic("stepline", "-r", text)
    assert hits_by_function(profiler)["outer.<locals>.inner"] == {5: 1}


def test_profile_is_a_builtin_meanwhile(shell: Any, cell: RunCell) -> None:
    text = "@profile\ndef marked():\n    return 1\nmarked()"
    profiler = shell.run_cell_magic("stepline", "-r -f work", text)
    assert hits_by_function(profiler)["marked"] == {4: 1}
    assert not hasattr(builtins, "profile")


def test_files_are_written(cell: RunCell, tmp_path: Path, capsys: Output) -> None:
    assert cell("%stepline -T lines.txt -D lines.lprof -u 1e-3 -f work work(5)").success
    printed = capsys.readouterr().out
    text = (tmp_path / "lines.txt").read_text()
    assert text.startswith("Timer unit: 0.001 s")
    assert printed.startswith(text)
    (rows,) = load_stats(tmp_path / "lines.lprof").timings.values()
    assert {line: hits for line, hits, _ in rows} == HITS_OF_WORK


def test_line_profiler_reads_the_file(cell: RunCell, tmp_path: Path) -> None:
    line_profiler = needs.module("line_profiler")
    assert cell("%stepline -D lines.lprof -f work work(5)").success
    (rows,) = line_profiler.load_stats(str(tmp_path / "lines.lprof")).timings.values()
    assert {line: hits for line, hits, _ in rows} == HITS_OF_WORK


def test_the_statement_is_left_as_it_is(shell: Any, cell: RunCell) -> None:
    assert cell("""%stepline -f work found = {'a  b': "it's", "$x": f"{work(2)}"}""").success
    assert shell.user_ns["found"] == {"a  b": "it's", "$x": "1"}


def test_an_exception_is_shown_as_always_and_the_table_too(cell: RunCell, capsys: Output) -> None:
    result = cell("%%stepline -f work\nwork(5)\n1 / 0\nwork(5)")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    printed = capsys.readouterr().out
    assert "Function: work at line 1" in printed
    shown = printed[printed.index("ZeroDivisionError") :]
    assert "1 / 0" in shown
    assert "stepscope" not in shown


def test_a_syntax_error_is_shown_as_always(cell: RunCell, capsys: Output) -> None:
    result = cell("%%stepline -f work\nwork(5)\nx = = 1")
    assert isinstance(result.error_in_exec, SyntaxError)
    printed = capsys.readouterr().out
    assert "x = = 1" in printed
    assert "Timer unit" not in printed


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("-f nobody work(1)", "There is no 'nobody' to count"),
        ("-f len work(1)", "'len' has no Python code"),
        ("-f work.__name__ work(1)", "'work.__name__' cannot be counted"),
        ("-m nobody_s work(1)", "Cannot import 'nobody_s'"),
        ("-f work", "Nothing to run: give %stepline a statement"),
        ("work(1)", "Name what to count: -f FUNCTION or -m MODULE"),
        ("-u 0 -f work work(1)", "-u"),
        ("-T nowhere/a.txt -f work work(1)", "'nowhere/a.txt' cannot be written"),
        ("--colour work(1)", "--colour"),
    ],
)
def test_a_mistake_gets_one_line(cell: RunCell, capsys: Output, line: str, words: str) -> None:
    assert not cell(f"%stepline {line}").success
    printed = capsys.readouterr()
    assert printed.err.startswith("UsageError: ")
    assert words in printed.err
    assert "Traceback" not in printed.out + printed.err


def test_a_statement_behind_a_cell_magic_is_refused(cell: RunCell, capsys: Output) -> None:
    assert not cell("%%stepline -f work work(1)\nwork(2)").success
    assert "put it into the cell" in capsys.readouterr().err


def test_awaiting_is_refused_with_a_way_out(cell: RunCell, capsys: Output) -> None:
    assert not cell("%%stepline\nimport asyncio\nawait asyncio.sleep(0)").success
    assert "with stepscope.Profiler(): await" in capsys.readouterr().err
