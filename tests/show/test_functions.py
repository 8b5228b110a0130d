"""The functions view and the pstats export, of answers made by hand."""

import io
import marshal
import pstats
from pathlib import Path

import msgspec
import pytest

from hand_made_answers import MAIN
from stepscope.errors import InputError
from stepscope.model import CallRow, FunctionRow, FunctionsAnswer
from stepscope.show.exporters.pstats import stats_of
from stepscope.show.selection import select
from stepscope.show.terminal.drawing.page import console
from stepscope.show.terminal.functions import function_name, functions
from stepscope.views.functions import FUNCTIONS

MS = 1_000_000


def called(function: str, line: int, ncalls: int, primitive: int, *ms: int) -> CallRow:
    return CallRow(
        file="train.py", line=line, function=function, ncalls=ncalls, primitive_calls=primitive,
        tottime_ns=ms[0] * MS, cumtime_ns=ms[1] * MS,
    )  # fmt: skip


MAIN_ROW = FunctionRow(
    file="train.py", line=1, function="main", process=MAIN, ncalls=1, primitive_calls=1,
    tottime_ns=10 * MS, cumtime_ns=100 * MS, callees=[called("Tree.grow", 8, 1, 1, 20, 90)],
)  # fmt: skip
GROW = FunctionRow(
    file="train.py", line=8, function="Tree.grow", process=MAIN, ncalls=12, primitive_calls=3,
    tottime_ns=60 * MS, cumtime_ns=90 * MS,
    callers=[called("main", 1, 3, 3, 20, 90), called("Tree.grow", 8, 9, 2, 40, 50)],
)  # fmt: skip
SLEEP = FunctionRow(
    file="~", line=0, function="<built-in method time.sleep>", process=MAIN, ncalls=30,
    primitive_calls=30, tottime_ns=30 * MS, cumtime_ns=30 * MS,
)  # fmt: skip
EXACT = FunctionsAnswer(functions=[GROW, SLEEP, MAIN_ROW], exact=True)
SAMPLED = FunctionsAnswer(
    functions=[
        FunctionRow(
            file="numpy/core.py", line=3, function="dot", process=MAIN, ncalls=None,
            primitive_calls=None, tottime_ns=7 * MS, cumtime_ns=9 * MS, estimated=True,
        )
    ],
    exact=False,
)  # fmt: skip


def text(view: object, width: int = 90) -> str:
    out = console(width=width)
    with out.capture() as captured:
        out.print(view)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def test_the_columns_are_those_of_pstats() -> None:
    assert text(functions(EXACT)) == (
        "Functions  43 calls (34 primitive) in 100 ms\n"
        "  ncalls  tottime  percall  cumtime  percall  filename:lineno(function)\n"
        "    12/3  60.0 ms  5.00 ms  90.0 ms  30.0 ms  train.py:8(Tree.grow)\n"
        "      30  30.0 ms  1.00 ms  30.0 ms  1.00 ms  {built-in method time.sleep}\n"
        "       1  10.0 ms  10.0 ms   100 ms   100 ms  train.py:1(main)\n"
    )


def test_a_narrow_terminal_cuts_the_path_and_keeps_the_function() -> None:
    row = msgspec.structs.replace(GROW, file="growing_in_many_small_steps.py")
    drawn = text(functions(FunctionsAnswer(functions=[row], exact=True)), width=72)
    assert "…all_steps.py:8(Tree.grow)" in drawn
    assert "growing" not in drawn


def test_callers_are_listed_with_their_share() -> None:
    assert text(functions(FunctionsAnswer(functions=[GROW], exact=True), relation="callers")) == (
        "Callers  12 calls (3 primitive) in 60.0 ms\n"
        "  function               ncalls  tottime  cumtime  callers\n"
        "  train.py:8(Tree.grow)       3  20.0 ms  90.0 ms  train.py:1(main)\n"
        "                            9/2  40.0 ms  50.0 ms  train.py:8(Tree.grow)\n"
    )


def test_what_is_not_known_is_a_dash_and_what_is_estimated_is_marked() -> None:
    shown = text(functions(SAMPLED))
    assert "       -  ~7.00 ms        -  ~9.00 ms        -  core.py:3(dot)" in shown
    assert "~ an estimate" in shown


def test_top_says_how_many_are_left() -> None:
    assert "… 2 more functions: --top 0 shows all" in text(functions(EXACT, top=1))


def test_nothing_recorded_is_said() -> None:
    nothing = FunctionsAnswer(functions=[], exact=True)
    assert "No function was recorded." in text(functions(nothing))


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("tottime", "Tree.grow"),
        ("time", "Tree.grow"),
        ("cumtime", "main"),
        ("cumulative", "main"),
        ("ncalls", "<built-in method time.sleep>"),
        ("calls", "<built-in method time.sleep>"),
        ("pcalls", "<built-in method time.sleep>"),
        ("name", "<built-in method time.sleep>"),
        ("nfl", "<built-in method time.sleep>"),
        ("line", "<built-in method time.sleep>"),
        ("file", "main"),
        ("stdname", "main"),
    ],
)
def test_rows_sort_by_the_names_of_pstats(name: str, first: str) -> None:
    rows = FunctionsAnswer(functions=[MAIN_ROW, SLEEP, GROW], exact=True)
    assert select(FUNCTIONS, rows, {"sort": name}).functions[0].function == first


def test_every_sort_name_of_pstats_is_known() -> None:
    assert FUNCTIONS.rows is not None
    theirs = set(pstats.Stats.sort_arg_dict_default)
    assert theirs <= FUNCTIONS.rows.sorts.keys()


def test_a_sort_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="Cannot sort functions by 'weight'"):
        select(FUNCTIONS, EXACT, {"sort": "weight"})


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("grow", ["Tree.grow"]),
        ("Tree.grow", ["Tree.grow"]),
        ("sleep", ["<built-in method time.sleep>"]),
    ],
)
def test_functions_are_chosen_by_plain_or_qualified_name(name: str, found: list[str]) -> None:
    chosen = select(FUNCTIONS, EXACT, {"function": (name,)})
    assert [row.function for row in chosen.functions] == found


def test_the_page_of_callees_follows_from_the_option() -> None:
    given = {"callees": ("main",)}
    shown = text(FUNCTIONS.draw(FunctionsAnswer(functions=[MAIN_ROW], exact=True), given))
    assert "Callees" in shown
    assert "train.py:8(Tree.grow)" in shown


def test_names_are_written_as_pstats_writes_them() -> None:
    assert function_name(SLEEP, {}) == "{built-in method time.sleep}"
    assert function_name(GROW, {"train.py": "…/train.py"}) == "…/train.py:8(Tree.grow)"


def test_the_real_pstats_reads_the_export(tmp_path: Path) -> None:
    file = tmp_path / "out.pstats"
    file.write_bytes(marshal.dumps(stats_of(EXACT.functions, cwd="/home/ada")))
    out = io.StringIO()
    stats = pstats.Stats(str(file), stream=out)
    assert stats.total_calls == 43  # type: ignore[attr-defined]  # the stub leaves it out
    assert stats.prim_calls == 34  # type: ignore[attr-defined]
    stats.sort_stats("cumulative").print_stats().print_callers()
    assert "43 function calls (34 primitive calls) in 0.100 seconds" in out.getvalue()
    assert "12/3" in out.getvalue()
    assert "/home/ada/train.py:8(grow)" in out.getvalue()
    assert "9/2" in out.getvalue()


def test_functions_that_share_a_plain_name_are_summed_in_the_export() -> None:
    twice = [GROW, msgspec.structs.replace(GROW, function="Bush.grow")]
    ((key, figures),) = stats_of(twice, cwd="/x").items()
    assert key == ("/x/train.py", 8, "grow")
    assert figures[:2] == (6, 24)
    assert figures[4]["/x/train.py", 1, "main"][:2] == (6, 6)
