"""`stepscope.Run`: answers as records, and how it looks as text and as HTML."""

from pathlib import Path

import msgspec
import pytest

import needs
import stepscope
from build import MS, RunBuilder
from stepscope import model
from stepscope.errors import DataError, InputError
from stepscope.model.processes import ProcessesAnswer
from stepscope.show.report import bundle


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twenty turns of 5 ms, in a script whose name is not harmless HTML."""
    run = RunBuilder(tmp_path / "run", command=["<b>train</b>.py", "--lr=1&2"])
    process = run.process()
    code = process.code()
    end_ns = process.for_loop(process.loop(code, 4, 8), 10 * MS, [5 * MS] * 20)
    process.lines(code, 4, [(21, 0), (20, 100 * MS)])
    process.write(ended_ns=end_ns + MS)
    run.supervisor(ended_ns=end_ns + MS)
    return run.path


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("summary", model.SummaryAnswer),
        ("steps", model.StepsAnswer),
        ("lines", model.LinesAnswer),
        ("functions", model.FunctionsAnswer),
        ("regions", model.RegionsAnswer),
        ("files", model.FilesAnswer),
        ("memory", model.MemoryAnswer),
        ("processes", ProcessesAnswer),
    ],
)
def test_every_question_gives_its_record(
    folder: Path, question: str, kind: type[msgspec.Struct]
) -> None:
    assert type(getattr(stepscope.Run(folder), question)()) is kind


def test_every_single_step_is_in_the_answer(folder: Path) -> None:
    answer = stepscope.Run(folder).steps()
    assert isinstance(answer.each, list)
    assert [step.duration_ns for step in answer.each] == [5 * MS] * 20


def test_it_looks_like_the_page_of_the_terminal(folder: Path) -> None:
    text = repr(stepscope.Run(folder))
    assert str(stepscope.Run(folder)) == text
    assert "The whole run" in text
    assert "20 steps" in text
    assert "\x1b" not in text


def test_its_html_is_the_report_where_that_was_built(folder: Path) -> None:
    needs.require_page()
    html = stepscope.Run(folder)._repr_html_()
    assert html.startswith('<iframe title="stepscope" sandbox="allow-scripts" srcdoc="')
    assert "<b>" not in html


def test_without_it_its_html_is_escaped_and_needs_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "FOLDER", folder / "nothing")
    html = stepscope.Run(folder)._repr_html_()
    assert html.startswith("<pre ")
    assert html.endswith("</pre>")
    assert "<b>" not in html
    assert "&lt;b&gt;train&lt;/b&gt;" in html
    assert "1&amp;2" in html
    assert not any(word in html for word in ("<script", "<link", "src=", "http", "url("))


def test_the_folder_may_be_left_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    run = stepscope.Run("run")
    assert run.summary().run == "run"
    monkeypatch.chdir("/")
    assert Path(run.folder) == folder
    assert run.lines().functions


def test_without_a_folder_the_newest_is_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    with pytest.raises(InputError, match="There is no run in 'stepscope-runs'"):
        stepscope.Run()
    (folder.parent / "stepscope-runs").mkdir()
    folder.rename(folder.parent / "stepscope-runs" / "mine")
    assert stepscope.Run().folder.endswith("/stepscope-runs/mine")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere' does not exist"):
        stepscope.Run(tmp_path / "nowhere")
    with pytest.raises(DataError, match="is not a run folder"):
        stepscope.Run(tmp_path)
