"""`%stepline` where `%lprun` and `%%lprun_all` were: the same options, beside the real ones."""

import builtins
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import needs
from ipython.shells import HITS_OF_WORK, RunCell, hits_by_function

Output = pytest.CaptureFixture[str]
CELL = """\
seen = []
for x in range(3):
    seen.append(x)

def last():
    return seen[-1]

last()
"""
ENDS = {
    "SystemExit": "import sys\nwork(5)\nsys.exit(3)\nwork(5)",
    "KeyboardInterrupt": "import os, signal\nwork(5)\nos.kill(os.getpid(), signal.SIGINT)\nwork(5)",
}


@pytest.fixture
def both(shell: Any, cell: RunCell) -> Callable[..., tuple[Any, Any]]:
    """What ours and line_profiler's magics return for the same options and code."""
    needs.module("line_profiler")
    shell.run_line_magic("load_ext", "line_profiler")

    def run(options: str, code: str, *, is_cell: bool = False) -> tuple[Any, Any]:
        if is_cell:
            ours = shell.run_cell_magic("stepline", f"-r {options}", code)
            return ours, shell.run_cell_magic("lprun_all", f"-r {options}", code)
        ours = shell.run_line_magic("stepline", f"-r {options} {code}")
        return ours, shell.run_line_magic("lprun", f"-r {options} {code}")

    return run


@pytest.mark.parametrize(
    "options", ["-f work", "-fwork", "-z -f work", "-s -f work", "-zu1e-6 -f work"]
)
def test_lines_of_a_function_as_lprun_counts_them(
    both: Callable[..., tuple[Any, Any]], options: str
) -> None:
    ours, theirs = both(options, "work(5)")
    assert hits_by_function(ours) == hits_by_function(theirs) == {"work": HITS_OF_WORK}


def test_ours_and_theirs_may_take_turns(both: Callable[..., tuple[Any, Any]]) -> None:
    """On 3.11 line_profiler makes its code from what the function has: ours, with ticks."""
    for turns in (5, 3):
        ours, theirs = both("-f work", f"work({turns})")
        assert hits_by_function(ours) == hits_by_function(theirs)
        assert hits_by_function(ours)["work"][4] == turns


def hits_of_cell(profiler: Any, *, first_line: int) -> dict[int, int]:
    """Ours counts the line of the magic as a notebook does, line_profiler does not."""
    (found,) = [
        rows for name, rows in hits_by_function(profiler).items() if name in ("<module>", "<cell>")
    ] or [max(hits_by_function(profiler).values(), key=len)]
    return {line - first_line: hits for line, hits in found.items()}


def test_a_whole_cell_as_lprun_all_counts_it(both: Callable[..., tuple[Any, Any]]) -> None:
    ours, theirs = both("", CELL, is_cell=True)
    expected = {0: 1, 1: 4, 2: 3, 4: 1, 7: 1}
    assert hits_of_cell(ours, first_line=2) == expected
    assert hits_of_cell(theirs, first_line=1).items() >= {1: 4, 2: 3, 7: 1}.items()
    assert hits_by_function(ours)["last"] == {7: 1}


def test_p_counts_only_the_cells_own_lines(both: Callable[..., tuple[Any, Any]]) -> None:
    ours, theirs = both("-p", CELL, is_cell=True)
    assert len(hits_by_function(ours)) == len(hits_by_function(theirs)) == 1
    assert "last" not in hits_by_function(ours)


def test_t_stores_the_time_under_line_profilers_name(shell: Any, cell: RunCell) -> None:
    for line in ("%%stepline -t\nwork(5)", "%stepline -t -f work work(5)"):
        shell.user_ns.pop("_total_time_taken", None)
        assert cell(line).success
        assert shell.user_ns["_total_time_taken"] > 0


@pytest.mark.parametrize("name", ENDS)
def test_an_exit_or_a_stop_ends_the_code_and_shows_what_was_counted(
    name: str, both: Callable[..., tuple[Any, Any]], shell: Any, cell: RunCell, capsys: Output
) -> None:
    shell.user_ns["code"] = ENDS[name]
    ours, theirs = both("-f work", "exec(code)")
    assert hits_by_function(ours) == hits_by_function(theirs) == {"work": HITS_OF_WORK}
    words = rf"\*\*\* {name} exception caught in code being profiled"
    printed = capsys.readouterr().out
    assert len(re.findall(words, printed)) == 2
    assert cell(f"%%stepline -T t.txt -f work\n{ENDS[name]}").success
    assert "total += number" in Path("t.txt").read_text()


def test_another_error_still_passes_through(cell: RunCell, shell: Any) -> None:
    assert isinstance(cell("%stepline -t -f work 1 / 0").error_in_exec, ZeroDivisionError)
    assert shell.user_ns["_total_time_taken"] > 0


def test_profile_is_ours_meanwhile_whoever_had_the_name(shell: Any, cell: RunCell) -> None:
    before = vars(builtins)["profile"] = lambda function: function  # kernprof's
    try:
        text = "@profile\ndef marked():\n    return 1\nmarked()"
        profiler = shell.run_cell_magic("stepline", "-r -f work", text)
        assert hits_by_function(profiler)["marked"] == {4: 1}
        assert vars(builtins)["profile"] is before
    finally:
        del vars(builtins)["profile"]


@pytest.mark.parametrize("text", ["%stepline -p -f work work(1)", "%%stepline -p -f work\nwork(1)"])
def test_p_is_for_a_whole_cell_only(cell: RunCell, capsys: Output, text: str) -> None:
    assert not cell(text).success
    assert "-p is for %%stepline without -f and -m" in capsys.readouterr().err
