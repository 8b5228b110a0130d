"""Files, folders and classes stay small enough to read, and each file says what it is for."""

import ast
import collections
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "stepscope"
LONGEST_FILE = 400
MOST_FILES = 25  # in a folder
MOST_METHODS = 20  # of a class


def source_files() -> list[Path]:
    """What is written by hand, or made and committed; benchmarks make whole environments."""
    folders = ("stepscope", "tests", "benchmarks", "docs", "examples", "web/src")
    return [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".c", ".h", ".pyi", ".ts", ".tsx", ".css"}
        and not path.is_relative_to(ROOT / "benchmarks" / "out")
    ]


def test_no_file_grows_beyond_what_one_can_read() -> None:
    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in source_files()
        if (lines := len(path.read_text().splitlines())) > LONGEST_FILE
    }
    assert not too_long


def is_specimens(folder: str) -> bool:
    """Scripts that are run and measured, not read as a part of anything."""
    return folder.startswith(("tests/programs", "benchmarks/zoo/"))


def test_no_folder_is_a_warehouse() -> None:
    folders = (path.parent.relative_to(ROOT).as_posix() for path in source_files())
    counts = collections.Counter(folder for folder in folders if not is_specimens(folder))
    assert not {folder: count for folder, count in counts.items() if count > MOST_FILES}


def test_no_class_does_everything() -> None:
    too_many = {
        f"{path.relative_to(ROOT)}: {node.name}": methods
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
        and (methods := sum(isinstance(each, ast.FunctionDef) for each in node.body)) > MOST_METHODS
    }
    assert not too_many


def test_every_file_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in PACKAGE.rglob("*.py")
        if path.read_text().strip() and ast.get_docstring(ast.parse(path.read_text())) is None
    ]
    assert not silent
