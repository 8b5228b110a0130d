"""What holds for every view: it is asked, drawn, documented and typed as its record says."""

import importlib
import inspect
import json
import pkgutil
import re
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest

import stepscope.views
from build import MS, RunBuilder
from stepscope.analyze.answers.recorded_views import recorded_views
from stepscope.analyze.run import load
from stepscope.analyze.traces.foreign import load_any
from stepscope.cli.main import main
from stepscope.run_object import Run
from stepscope.show.report.shapes import content_type
from stepscope.show.selection import select
from stepscope.show.terminal.drawing.page import console
from stepscope.views import VIEWS, every_view
from stepscope.views.view import View
from views import make_questions
from xplane_writer import PlaneWriter, write

ROOT = Path(__file__).parents[2]
AT_LEAST = 15
EVERY = list(every_view())


def by_name(view: View[Any]) -> str:
    return view.name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty steps of 10 ms, in two functions."""
    path = tmp_path_factory.mktemp("views") / "run"
    process = RunBuilder(path).process()
    file = process.file(
        text="def train(batches):\n    for batch in batches:\n        step(batch)\n"
    )
    train = process.code("train", file=file)
    process.lines(train, 1, [(1, MS), (31, 2 * MS), (30, 290 * MS)])
    process.lines(process.code("Scaler.scale", file=file, first_line=30), 30, [(5_000, 40 * MS)])
    process.for_loop(process.loop(train, 2, 3), MS, [10 * MS] * 30)
    process.write(ended_ns=400 * MS)
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two steps, with a kernel in each."""
    host, device = PlaneWriter("/host:CPU"), PlaneWriter("/device:GPU:0")
    python, stream = host.line(1, "python"), device.line(7, "Stream #7(Compute)")
    for step in range(2):
        python.event("train", 200 * step, 100, step_num=step, _r=1)
        stream.event("gemm", 200 * step + 30, 50)
    return write(tmp_path / "t.xplane.pb", host, device)


def answer_in(folder: Path, view: View[Any]) -> Any:
    return view.plain(load(folder))


# --- the record -----------------------------------------------------------------------------------


def test_every_file_of_a_view_is_in_the_list() -> None:
    names = [module.name for module in pkgutil.iter_modules(stepscope.views.__path__)]
    records = [
        value
        for name in names
        for value in vars(importlib.import_module(f"stepscope.views.{name}")).values()
        if isinstance(value, View)
    ]
    assert len(VIEWS) >= AT_LEAST
    assert {view.name for view in records} == {view.name for view in EVERY}


@pytest.mark.parametrize("view", EVERY, ids=by_name)
def test_its_type_is_that_of_the_answer_that_is_computed(view: View[Any]) -> None:
    module = importlib.import_module(f"stepscope.views.{view.name}")
    assert module.__annotations__[view.name.upper()] == f"View[{view.answer_type.__name__}]"


@pytest.mark.parametrize("view", EVERY, ids=by_name)
def test_analysis_computes_it_and_the_terminal_draws_it(view: View[Any]) -> None:
    assert view.computed.startswith(("analyze.", "advise."))
    assert view.drawn.startswith("show.terminal.")


@pytest.mark.parametrize("view", VIEWS.values(), ids=by_name)
def test_run_has_a_method_of_its_name_and_type(view: View[Any]) -> None:
    method = getattr(Run, view.name)
    of_base = getattr(Run.__mro__[1], view.name)
    answers = [inspect.signature(each).return_annotation for each in (method, of_base)]
    names = [each if isinstance(each, str) else each.__name__ for each in answers]
    assert [name.rpartition(".")[2] for name in names] == [view.answer_type.__name__] * 2
    assert method.__doc__


def test_the_methods_of_run_are_what_the_views_say() -> None:
    assert make_questions.FILE.read_text() == make_questions.text()


# --- asked and drawn ------------------------------------------------------------------------------


@pytest.mark.parametrize("view", EVERY, ids=by_name)
def test_its_json_has_the_shape_of_its_record(
    view: View[Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(folder), *view.spelled.split(), "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    msgspec.json.decode(said.out, type=view.answer_type)
    optional = {
        field.name
        for field in msgspec.structs.fields(view.answer_type)
        if msgspec.UnsetType in typing.get_args(field.type)
    }
    fields = {field.name for field in msgspec.structs.fields(view.answer_type)}
    assert json.loads(said.out).keys() == fields - optional


@pytest.mark.parametrize("view", EVERY, ids=by_name)
def test_the_terminal_draws_it(view: View[Any], folder: Path) -> None:
    out = console(width=80)
    with out.capture() as captured:
        out.print(view.draw(answer_in(folder, view), {}))
    assert captured.get().strip()


@pytest.mark.parametrize("view", EVERY, ids=by_name)
def test_it_sorts_by_every_name_that_it_offers(view: View[Any], folder: Path) -> None:
    answer = answer_in(folder, view)
    before = view.rows_of(answer) or []
    for name in view.rows.sorts if view.rows else ():
        after = view.rows_of(select(view, answer, {"sort": name}))
        assert sorted(map(repr, after or [])) == sorted(map(repr, before))


@pytest.mark.parametrize("view", EVERY, ids=by_name)
def test_of_a_trace_it_is_shown_or_what_else_can_be(
    view: View[Any], trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["show", str(trace), *view.spelled.split()])
    said = capsys.readouterr()
    there = recorded_views(load_any(trace))
    assert {"summary", "steps", "kernels"} <= set(there) <= set(VIEWS)
    if view.name in there:
        assert view.takes_traces
        assert (status, said.err) == (0, "")
        assert said.out.strip()
    else:
        assert (status, said.out) == (2, "")
        assert f"has nothing for 'show {view.spelled}'" in said.err
        assert f"It has: {', '.join(there)}." in said.err


# --- the report, the help and the docs ------------------------------------------------------------


@pytest.mark.parametrize("view", EVERY, ids=by_name)
def test_its_page_is_one_of_the_report(view: View[Any]) -> None:
    pages = re.findall(r'{ page: "(\w+)"', (ROOT / "web" / "src" / "main.tsx").read_text())
    assert view.page in pages


@pytest.mark.parametrize("name", VIEWS)
def test_the_report_is_given_its_answer(name: str) -> None:
    assert name in content_type().__struct_fields__


@pytest.mark.parametrize("view", VIEWS.values(), ids=by_name)
def test_the_docs_have_its_question_and_its_method(view: View[Any]) -> None:
    row = f"| `{view.name}` | {view.question} | {view.page.capitalize()} |"
    assert row in (ROOT / "docs" / "show.md").read_text().splitlines()
    assert f"`{view.name}()`" in (ROOT / "docs" / "notebooks.md").read_text()


def test_the_docs_say_what_can_be_shown_of_traces() -> None:
    text = " ".join((ROOT / "docs" / "show.md").read_text().split())
    *names, last = [f"`{view.name}`" for view in VIEWS.values() if view.takes_traces]
    assert f"there may be {', '.join(names)} and {last}." in text


def test_help_lists_every_view_and_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert [
        view.name for view in VIEWS.values() if f"{view.name} {view.question}" not in text
    ] == []
    options = {option for view in EVERY for option in view.options}
    assert [option.flag for option in options if f": {option.help}" not in text] == []


def test_an_option_of_other_views_is_refused_with_those_that_take_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(folder), "functions", "--tree", "--callers", "train"]) == 2
    complaint = capsys.readouterr().err
    assert "--callers belongs to 'stepscope show functions', not 'functions --tree'." in complaint
    assert main(["show", str(folder), "lines", "--all"]) == 2
    owners = "'stepscope show findings' and 'stepscope show functions --tree'"
    assert f"--all belongs to {owners}, not 'lines'." in capsys.readouterr().err
