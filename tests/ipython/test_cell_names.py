"""Cells in a run's names: what is appended to them, and what is left alone."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import needs
from stepscope.ipython.cell_names import Cells, name_cells
from stepscope.store.format import NAMES_FILE, SOURCES_FOLDER

compilerop = needs.module("IPython.core.compilerop")
COMPILER = compilerop.CachingCompiler()
CELL, STATEMENT = COMPILER.cache("x = 1", 3), COMPILER.cache("f(x)", 3)
SHELL = SimpleNamespace(compile=COMPILER)


@pytest.fixture
def names(tmp_path: Path) -> Path:
    """Of a process that was killed in the middle of a line."""
    file = tmp_path / "proc-0-here-1" / NAMES_FILE
    file.parent.mkdir()
    entries = [
        {"is": "file", "id": 1, "path": CELL, "source": None},
        {"is": "file", "id": 2, "path": STATEMENT, "source": None},
        {"is": "file", "id": 3, "path": "/home/ada/train.py", "source": "abc"},
        {"is": "function", "id": 1, "file": CELL, "line": 1, "name": "f"},
    ]
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries) + '{"is": "fi')
    return file


def added(names: Path) -> list[dict[str, Any]]:
    text = names.read_text()
    return [json.loads(line) for line in text[text.index('{"is": "fi\n') :].split("\n")[1:-1]]


def test_cells_get_their_number_and_text(names: Path) -> None:
    name_cells(str(names.parents[1]), Cells(SHELL, STATEMENT, is_cell=False))
    cell, statement, function = added(names)
    assert (cell["id"], cell["path"]) == (1, "In[3]")
    assert (names.parents[1] / SOURCES_FOLDER / cell["source"]).read_text() == "x = 1\n"
    assert (statement["id"], statement["path"]) == (2, "In[3] (magic)")
    assert (names.parents[1] / SOURCES_FOLDER / statement["source"]).read_text() == "f(x)\n"
    assert (function["id"], function["file"]) == (1, "In[3]")


def test_of_a_recorded_cell_the_call_of_the_magic_has_the_longer_name(names: Path) -> None:
    name_cells(str(names.parents[1]), Cells(SHELL, CELL, is_cell=True))
    assert [entry.get("path") for entry in added(names)[:2]] == ["In[3]", "In[3] (magic)"]
