"""`%stepscope` in a real shell: a cell or a statement becomes a run, and stays what it was."""

import json
from pathlib import Path
from typing import Any

import pytest

import stepscope
from ipython.shells import HITS_OF_WORK, RunCell, hits_in
from stepscope.record import recording
from stepscope.record.steps import limits
from stepscope.store.format import RUN_FILE

Output = pytest.CaptureFixture[str]
STEPS = "import time\nfor step in range(20):\n    time.sleep(0.002)\n"


def runs(folder: Path) -> list[Path]:
    return [file.parent for file in folder.glob(f"stepscope-runs/*/{RUN_FILE}")]


def the_run(folder: Path) -> stepscope.Run:
    (found,) = runs(folder)
    return stepscope.Run(found)


def test_the_cell_runs_as_always_and_its_summary_is_shown(
    shell: Any, cell: RunCell, tmp_path: Path, capsys: Output
) -> None:
    assert cell("%%stepscope\nkept = [work(5)]\nprint('said')").success
    assert shell.user_ns["kept"] == [10]
    printed = capsys.readouterr()
    assert printed.out.startswith("said\n%%stepscope\n")
    assert "The whole run" in printed.out
    assert printed.err == ""
    assert recording.current is None


def test_lines_are_exact_and_numbered_as_in_the_notebook(
    shell: Any, cell: RunCell, tmp_path: Path
) -> None:
    number = shell.execution_count
    cell("%%stepscope --quiet\nfor x in range(3):\n    work(x)\n\nwork(5)")
    run = the_run(tmp_path)
    assert hits_in(run, "<module>") == {2: 4, 3: 3, 5: 1}
    assert hits_in(run, "work") == {2: 4, 3: 1 + 2 + 3 + 6, 4: 0 + 1 + 2 + 5, 5: 4}
    places = {(each.file, each.function) for each in run.lines().functions}
    assert (f"In[{number}]", "<module>") in places
    assert (f"In[{number - 1}]", "work") in places


def test_the_text_of_cells_is_in_the_run(cell: RunCell, tmp_path: Path) -> None:
    cell("%%stepscope --quiet\nwork(5)  # here")
    lines = [row for each in the_run(tmp_path).lines().functions for row in each.lines]
    texts = {row.source for row in lines}
    assert {"work(5)  # here", "        total += number"} <= texts
    assert "The source text of some files is missing." not in the_run(tmp_path).lines().notes


def test_a_statement_and_the_cell_around_it_are_two_texts(cell: RunCell, tmp_path: Path) -> None:
    cell("def here():\n    return 1\n%stepscope --quiet here()")
    functions = the_run(tmp_path).lines().functions
    found = {each.function: (each.file, each.lines[0].source) for each in functions}
    file, text = found["here"]
    assert text == "    return 1"
    assert found["<module>"] == (f"{file} (magic)", "here()")


def test_a_cell_of_comments(cell: RunCell, tmp_path: Path) -> None:
    assert cell("%%stepscope --quiet\n# nothing yet").success
    assert hits_in(the_run(tmp_path), "<module>").keys() <= {1}


def test_a_training_loop_in_the_cell_gives_steps(cell: RunCell, tmp_path: Path) -> None:
    cell(f"%%stepscope --quiet\n{STEPS}")
    answer = the_run(tmp_path).steps()
    assert answer.steps == 20
    assert answer.anchor is not None
    assert answer.anchor.startswith("the loop at In[")


def test_a_statement(shell: Any, cell: RunCell, tmp_path: Path) -> None:
    run = shell.run_line_magic("stepscope", "-r total = work(5)")
    assert isinstance(run, stepscope.Run)
    assert hits_in(run, "work") == HITS_OF_WORK
    assert shell.user_ns["total"] == 10
    assert run.summary().command == ["%stepscope", "total = work(5)"]


def test_r_gives_the_run_as_the_cells_value(cell: RunCell, capsys: Output) -> None:
    result = cell("%%stepscope -r\nwork(5)")
    assert isinstance(result.result, stepscope.Run)
    assert capsys.readouterr().out.count("The whole run") == 1


def test_options_of_run_are_taken(cell: RunCell, tmp_path: Path) -> None:
    cell('%%stepscope --quiet -o "my run" --calls --exact --budget 5%\nwork(5)')
    options = json.loads((tmp_path / "my run" / RUN_FILE).read_text())["options"]
    assert (options["calls"], options["exact"], options["budget_share"]) == (True, True, 0.05)
    rows = stepscope.Run(tmp_path / "my run").functions()
    assert rows.exact
    assert [row.ncalls for row in rows.functions if row.function == "work"] == [1]


def test_a_run_is_replaced_only_by_force(cell: RunCell, capsys: Output) -> None:
    assert cell("%%stepscope -o run --quiet\nfirst = 1").success
    assert not cell("%%stepscope -o run --quiet\nsecond = 2").success
    assert "'run' already holds a run" in capsys.readouterr().err
    assert not cell("second").success  # it did not run
    assert cell("%%stepscope -o run --quiet --force\nthird = 3").success


def test_the_run_is_named_after_the_notebook(
    cell: RunCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ada/my training.ipynb")
    cell("%%stepscope --quiet\nwork(5)")
    assert [path.name.startswith("my-training-") for path in runs(tmp_path)] == [True]


def test_steps_ends_the_cell_cleanly(
    shell: Any, cell: RunCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FRAMEWORKS", ())  # other tests may have loaded one
    assert cell("%%stepscope --quiet --steps 12\n" + STEPS.replace("20", "2000")).success
    assert shell.user_ns["step"] < 1999
    assert the_run(tmp_path).steps().steps >= 11


def test_an_exception_is_shown_as_always_and_the_run_is_kept(
    cell: RunCell, tmp_path: Path, capsys: Output
) -> None:
    result = cell("%%stepscope\nwork(5)\nwork('x')\nnever = 1")
    assert isinstance(result.error_in_exec, TypeError)
    printed = capsys.readouterr().out
    assert printed.index("The whole run") < printed.index("TypeError")
    assert "----> 3 work('x')" in printed or "3 work('x')" in printed
    assert hits_in(the_run(tmp_path), "work")[4] == 5
    assert recording.current is None


def test_with_r_an_exception_still_shows_the_summary(cell: RunCell, capsys: Output) -> None:
    assert not cell("%%stepscope -r\n1 / 0").success
    assert "The whole run" in capsys.readouterr().out


def test_an_interrupt_ends_the_cell_and_shows_what_there_is(
    cell: RunCell, tmp_path: Path, capsys: Output
) -> None:
    result = cell("%%stepscope\nwork(5)\nraise KeyboardInterrupt")
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert "The whole run" in capsys.readouterr().out
    assert hits_in(the_run(tmp_path), "work") == HITS_OF_WORK


def test_a_syntax_error_leaves_no_run_behind(cell: RunCell, tmp_path: Path, capsys: Output) -> None:
    result = cell("%%stepscope\nx = = 1")
    assert isinstance(result.error_in_exec, SyntaxError)
    assert "x = = 1" in capsys.readouterr().out
    assert runs(tmp_path) == []


def test_inside_a_recording_it_becomes_part_of_that(
    shell: Any, cell: RunCell, tmp_path: Path, capsys: Output
) -> None:
    assert cell("%%stepscope -o outer --quiet\n%stepscope -o inner total = work(5)").success
    assert f"recorded already, into '{tmp_path / 'outer'}'" in capsys.readouterr().err
    assert shell.user_ns["total"] == 10
    assert not (tmp_path / "inner").exists()
    assert hits_in(stepscope.Run(tmp_path / "outer"), "work") == HITS_OF_WORK


def test_stepline_works_inside_a_recording(
    shell: Any, cell: RunCell, tmp_path: Path, capsys: Output
) -> None:
    assert cell("%%stepscope -o outer --quiet\nwork(1)\n%stepline -T t -f work work(5)").success
    table = (tmp_path / "t").read_text()
    row = next(line for line in table.splitlines() if "total += number" in line)
    assert row.split()[:2] == ["4", "5"]
    assert hits_in(stepscope.Run(tmp_path / "outer"), "work")[4] == 6


def test_a_run_that_is_being_recorded_is_not_analysed_by_itself(
    cell: RunCell, tmp_path: Path
) -> None:
    cell("import stepscope")
    result = cell("%%stepscope -o run --quiet\nstepscope.Run('run')")
    assert isinstance(result.error_in_exec, stepscope.errors.InputError)
    assert "being recorded by this process" in str(result.error_in_exec)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("%stepscope", "Nothing to run: give %stepscope a statement"),
        ("%stepscope --colour work(1)", "--colour"),
        ("%stepscope --budget 300% work(1)", "'300%' is not a share"),
        ("%%stepscope work(1)\nwork(2)", "put it into the cell"),
        ("%%stepscope\nimport asyncio\nawait asyncio.sleep(0)", "A magic cannot await"),
    ],
)
def test_a_mistake_gets_one_line(
    cell: RunCell, tmp_path: Path, capsys: Output, text: str, words: str
) -> None:
    assert not cell(text).success
    printed = capsys.readouterr()
    assert printed.err.startswith("UsageError: ")
    assert words in printed.err
    assert runs(tmp_path) == []


def test_the_help_names_every_option(shell: Any) -> None:
    from stepscope.ipython.recorded import _READER

    text = shell.find_cell_magic("stepscope").__doc__
    options = [option for option in _READER.params if option.param_type_name == "option"]
    assert len(options) > 10
    assert not [option.opts for option in options if not any(o in text for o in option.opts)]
