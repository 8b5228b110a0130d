"""`stepscope export --to lprof` of a recorded run, against `show` and the real line_profiler."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """\
def outer(n):
    def inner(x):
        y = x * x
        return y

    total = 0
    for i in range(n):
        total += inner(i)
    return total


class Model:
    def step(self, n):
        return outer(n)


for _ in range(3):
    Model().step(5)
"""
REAL_HITS = """
import json, sys
from line_profiler import load_stats
stats = load_stats(sys.argv[1])
json.dump([[*key, rows] for key, rows in stats.timings.items()], sys.stdout)
"""


def python(*arguments: str, folder: Path) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the script was recorded and exported."""
    path = tmp_path_factory.mktemp("export")
    (path / "script.py").write_text(SCRIPT)
    python("-m", "stepscope", "run", "--exact", "--quiet", "-o", "run", "script.py", folder=path)
    python("-m", "stepscope", "export", "run", "--to", "lprof", "-o", "run.lprof", folder=path)
    return path


def exported(folder: Path) -> dict[tuple[str, int, str], Any]:
    rows = json.loads(python("-c", REAL_HITS, "run.lprof", folder=folder))
    return {(file, first_line, name): lines for file, first_line, name, lines in rows}


def test_the_file_has_the_numbers_that_show_has(folder: Path) -> None:
    """A module is in pieces: line_profiler's viewer shows it up to the first function only."""
    shown = json.loads(python("-m", "stepscope", "show", "run", "lines", "--json", folder=folder))
    assert by_function(exported(folder)) == {
        (str(folder / function["file"]), function["function"]): sorted(
            [line["line"], line["hits"], line["ns"]] for line in function["lines"]
        )
        for function in shown["functions"]
    }


def by_function(rows: dict[tuple[str, int, str], Any]) -> dict[tuple[str, str], Any]:
    found: dict[tuple[str, str], Any] = {}
    for (file, _, name), lines in sorted(rows.items()):
        found.setdefault((file, name), []).extend(lines)
    return {name: sorted(lines) for name, lines in found.items()}


def test_hits_are_those_the_program_made_nested_functions_included(folder: Path) -> None:
    script = str(folder / "script.py")
    hits = {
        name: {line: count for line, count, _ in rows}
        for (file, _, name), rows in exported(folder).items()
        if file == script
    }
    assert hits["outer"] == {2: 3, 6: 3, 7: 18, 8: 15, 9: 3}
    assert hits["outer.<locals>.inner"] == {3: 15, 4: 15}
    assert hits["Model.step"] == {14: 3}


def test_line_profiler_s_viewer_shows_it_with_the_source(folder: Path) -> None:
    shown = python("-m", "line_profiler", "run.lprof", folder=folder)
    assert "Function: outer.<locals>.inner at line 2" in shown
    assert any("total += inner(i)" in row and " 15 " in row for row in shown.splitlines())
    assert "Could not find file" not in shown
