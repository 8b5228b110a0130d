"""What all other tests rely on: leftovers are caught, and what is inherited does no harm."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LEAKS = {
    "gc_callback": "import gc; gc.callbacks.append(print)",
    "environment": "import os; os.environ['LEFT_BEHIND'] = '1'",
    "signal": "import signal; signal.signal(signal.SIGUSR1, lambda *_: None)",
    "builtin": "import builtins; builtins.profile = None",
    "patched_exec": "import builtins; old = exec; builtins.exec = lambda *a: old(*a)",
    "loader": "import importlib.machinery as m; m.SourceFileLoader.get_code = None",
    "finder": "import sys; sys.meta_path.append(None)",
    "profile_function": "import sys; sys.setprofile(lambda *_: None)",
    "thread": (
        "import threading; conftest.THREAD_GRACE_S = 0.01; "
        "threading.Thread(target=threading.Event().wait, daemon=True).start()"
    ),
}
if sys.version_info >= (3, 12):
    LEAKS["monitoring_tool"] = "import sys; sys.monitoring.use_tool_id(4, 'left behind')"


def pytest_in(folder: Path, *words: str, before: str = "") -> str:
    """pytest's output there; `before`: what a shell does before it starts pytest."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(
        ["sh", "-c", f'{before} exec "$@"', "sh", *command],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def copy_conftest(folder: Path) -> None:
    """With what it imports."""
    for name in ("conftest.py", "losses_in_runs.py"):
        shutil.copy(Path(__file__).parent / name, folder)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """pytest's output for one leaking test of each kind, each in its own process."""
    folder = tmp_path_factory.mktemp("leaks")
    copy_conftest(folder)
    tests = [f"def test_{name}():\n    {code}\n" for name, code in LEAKS.items()]
    tests.append("def test_clean():\n    pass\n")
    (folder / "test_it.py").write_text("import conftest\n\n" + "\n".join(tests))
    said = []
    for name in [*LEAKS, "clean"]:
        caught = "outlived the test" in pytest_in(folder, f"test_it.py::test_{name}")
        said.append(f"{name}: {'caught' if caught else 'unseen'}")
    return "\n".join(said)


@pytest.mark.parametrize("kind", LEAKS)
def test_what_a_test_leaves_behind_fails_it(report: str, kind: str) -> None:
    assert f"{kind}: caught" in report


def test_a_test_that_leaves_nothing_passes(report: str) -> None:
    assert "clean: unseen" in report


STARTS_A_PROGRAM = """
import os, signal, subprocess, sys

def test_it():
    code = "from signal import *; print([n for n in (1, 2, 3, 15) if getsignal(n) == SIG_IGN])"
    assert subprocess.check_output([sys.executable, "-c", code]) == b"[]\\n"
    assert os.isatty(0) is False
    assert "COLUMNS" not in os.environ
"""


def test_programs_begin_as_from_a_shell_whatever_started_the_tests(tmp_path: Path) -> None:
    copy_conftest(tmp_path)
    (tmp_path / "test_it.py").write_text(STARTS_A_PROGRAM)
    said = pytest_in(tmp_path, before="export COLUMNS=20; trap '' HUP INT QUIT TERM; exec <&-;")
    assert "1 passed" in said, said
