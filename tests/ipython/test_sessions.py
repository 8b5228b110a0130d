"""`ipython` as a program, and notebooks in a kernel: the magics as users see them."""

import sys
from pathlib import Path
from typing import Any

import pytest

import needs
import stepscope
from ipython.shells import WORK, hits_in, session
from stepscope.store.format import RUN_FILE

needs.module("IPython")
WORK_AND_BLANK = f"{WORK}\n"
REPORT = ("<iframe ", "<pre ")  # the summary, if the report's page was not built


def test_lines_of_a_typed_function(tmp_path: Path) -> None:
    printed = session(WORK_AND_BLANK, "%stepline -f work work(5)", cwd=tmp_path)
    assert "Function: work at line 1" in printed
    row = next(line for line in printed.splitlines() if line.endswith("total += number"))
    assert row.split()[:2] == ["4", "5"]


def test_a_recorded_statement(tmp_path: Path) -> None:
    lines = ("%stepscope -o run total = work(5)", "print('total', total)")
    printed = session(WORK_AND_BLANK, *lines, cwd=tmp_path)
    assert "total 10" in printed
    assert "The whole run" in printed
    assert "stepscope show run lines" in printed
    assert hits_in(stepscope.Run(tmp_path / "run"), "work")[4] == 5


def test_loading_again_and_unloading(tmp_path: Path) -> None:
    lines = (
        "%load_ext stepscope",
        "%reload_ext stepscope",
        "%stepline -f work work(5)",
        "%unload_ext stepscope",
        "%stepline -f work work(5)",
        "%reload_ext stepscope",
        "%stepline -f work work(6)",
    )
    printed = session(WORK_AND_BLANK, *lines, cwd=tmp_path)
    assert "The stepscope extension is already loaded" in printed
    assert printed.count("Function: work at line 1") == 2
    assert "Line magic function `%stepline` not found" in printed


RELOADED = ("%load_ext autoreload", "%autoreload 2", "import module_of_mine")
ANSWER = "print('answer', module_of_mine.answer())"


def test_autoreload_and_stepline_get_on(tmp_path: Path) -> None:
    edit = edited_module(tmp_path)
    count = f"%stepline -f module_of_mine.answer {ANSWER}"
    record = f"%stepscope -o run --quiet {ANSWER}"
    printed = session(*RELOADED, count, edit, count, record, ANSWER, cwd=tmp_path)
    assert (printed.count("answer 41"), printed.count("answer 42")) == (1, 3)
    assert hits_in(stepscope.Run(tmp_path / "run"), "answer") == {2: 1, 3: 1}


def test_code_that_autoreload_exchanged_stays_exchanged(tmp_path: Path) -> None:
    edit = edited_module(tmp_path)
    other = f"%stepline -f module_of_mine.other {ANSWER}"
    count = f"%stepline -f module_of_mine.answer {ANSWER}"
    printed = session(*RELOADED, count, edit, ANSWER, other, ANSWER, cwd=tmp_path)
    assert (printed.count("answer 41"), printed.count("answer 42")) == (1, 3)


def edited_module(folder: Path) -> str:
    """A module that returns 41, and a line to type that makes it return 42."""
    module = folder / "module_of_mine.py"
    text = "def answer():\n    return 41\n\ndef other():\n    return 0\n"
    module.write_text(text)
    edited = text.replace("return 41", "x = 42  # longer\n    return x")
    return f"_ = open({str(module)!r}, 'w').write({edited!r})"


def test_under_stepscope_run_a_cell_is_part_of_that_run(tmp_path: Path) -> None:
    program = ("-m", "stepscope", "run", "-o", "outer", "--quiet", "-m", "IPython")
    printed = session(WORK_AND_BLANK, "%stepscope work(5)", cwd=tmp_path, program=program)
    assert "this process is being recorded already" in printed
    assert hits_in(stepscope.Run(tmp_path / "outer"), "work")[4] == 5


# --- notebooks ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A notebook with a cell that fails, executed by a real kernel of this Python."""
    nbclient = needs.module("nbclient")
    needs.module("ipykernel")
    nbformat = needs.module("nbformat")
    folder = tmp_path_factory.mktemp("notebook")
    cells = [
        "%load_ext stepscope",
        WORK,
        "%stepline -f work work(5)",
        "%%stepscope -o run\nimport time\nfor step in range(20):\n    time.sleep(0.002)\nwork(5)",
        "step",
        "%%stepscope -o failed\nwork(3)\n1 / 0",
        "import stepscope\nstepscope.Run('run')",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    book.metadata["kernelspec"] = kernel(folder)
    client = nbclient.NotebookClient(
        book, timeout=120, allow_errors=True, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return folder, book.cells


def kernel(folder: Path) -> dict[str, str]:
    """A kernel of this Python, whatever kernels the machine has."""
    return {"name": "python3", "display_name": sys.executable}


def outputs(cell: Any, kind: str) -> str:
    """All text of one mime type, or of one stream."""
    texts = [
        output.text if output.output_type == "stream" else output.get("data", {}).get(kind, "")
        for output in cell.outputs
        if output.get("name", kind) == kind
    ]
    return "".join(texts)


def test_a_notebook_keeps_the_table_of_stepline(notebook: tuple[Path, Any]) -> None:
    printed = outputs(notebook[1][2], "stdout")
    assert "Function: work at line 1" in printed
    row = next(line for line in printed.splitlines() if line.endswith("total += number"))
    assert row.split()[:2] == ["4", "5"]


def test_a_notebook_shows_the_summary_as_html_and_as_text(notebook: tuple[Path, Any]) -> None:
    recorded = notebook[1][3]
    html, text = outputs(recorded, "text/html"), outputs(recorded, "text/plain")
    assert html.startswith(REPORT)
    assert "The whole run" in html
    assert "The whole run" in text
    assert "\x1b" not in text
    assert outputs(recorded, "stderr") == ""


def test_a_notebooks_cells_are_named_by_their_number(notebook: tuple[Path, Any]) -> None:
    folder, _ = notebook
    run = stepscope.Run(folder / "run")
    assert {each.file for each in run.lines().functions} == {"In[2]", "In[4]"}
    assert hits_in(run, "<module>") == {2: 1, 3: 21, 4: 20, 5: 1}
    assert run.steps().anchor == "the loop at In[4]:3"


def test_variables_of_a_recorded_cell_are_the_notebooks(notebook: tuple[Path, Any]) -> None:
    assert outputs(notebook[1][4], "text/plain") == "19"


def test_a_cell_that_fails_is_a_failed_cell(notebook: tuple[Path, Any]) -> None:
    folder, cells = notebook
    (error,) = [each for each in cells[5].outputs if each.output_type == "error"]
    assert error.ename == "ZeroDivisionError"
    assert (folder / "failed" / RUN_FILE).is_file()
    assert hits_in(stepscope.Run(folder / "failed"), "work")[4] == 3


def test_a_run_is_a_cells_value(notebook: tuple[Path, Any]) -> None:
    assert outputs(notebook[1][6], "text/html").startswith(REPORT)
