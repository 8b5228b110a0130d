"""Fixes inside the user's process: installed before the script, heard of, and never in its way."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trial.scripts import Tried, run_with

NAPS = "trial.own_fixes.shorter_naps"
BROKEN = "trial.own_fixes.broken"
FOR_THE_OUTSIDE = tuple(f"stepscope.{part}" for part in ("advise", "analyze", "model", "compare"))
SCRIPT = """
import colorsys
import time
started = time.perf_counter()
time.sleep(1)
time.sleep(1)
print(round(time.perf_counter() - started, 1) < 1.5)
"""


@pytest.fixture
def try_with(tmp_path: Path) -> Any:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def run(**fixes: Any) -> Tried:
        by_name = {{"naps": NAPS, "broken": BROKEN}[name]: each for name, each in fixes.items()}
        return run_with(script, fixes=by_name, into=tmp_path / "run")

    return run


def test_a_fix_is_there_before_the_scripts_first_line_and_says_once_that_it_took_effect(
    try_with: Any,
) -> None:
    tried = try_with(naps={"part": 0.1})
    assert (tried.stdout, tried.stderr) == ("True\n", "")
    assert tried.said == [{"fix": NAPS, "number": 0, "is": "applied", "what": "part=0.1"}]


@pytest.mark.parametrize(
    ("at_once", "what"),
    [(True, "ValueError: it cannot work"), (False, "AttributeError: module 'colorsys' has no")],
)
def test_a_fix_that_fails_costs_its_trial_and_not_the_script(
    try_with: Any, at_once: bool, what: str
) -> None:
    tried = try_with(broken={"at_once": at_once}, naps={"part": 0.1})
    assert (tried.status, tried.stdout, tried.stderr) == (0, "True\n", "")
    failed, applied = tried.said
    assert (failed["fix"], failed["is"]) == (BROKEN, "failed")
    assert failed["what"].startswith(what)
    assert applied["is"] == "applied"


def test_a_fix_that_does_not_exist_is_a_failure_of_the_trial(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('fine')")
    tried = run_with(script, fixes={"no-such-fix": {}}, into=tmp_path / "run")
    assert tried.stdout == "fine\n"
    (said,) = tried.said
    assert (said["is"], said["what"]) == ("failed", "LookupError: no-such-fix")


def test_a_file_of_fixes_that_cannot_be_read_is_a_failure_too(tmp_path: Path) -> None:
    from stepscope.trial import in_script

    in_script.apply(str(tmp_path / "none.json"), str(tmp_path))
    assert '"is": "failed"' in (tmp_path / in_script.REPORT_FILE).read_text()


def test_nothing_of_the_analysis_and_no_package_is_loaded_with_the_fixes() -> None:
    """What only a proposal needs, a fix imports in a function."""
    code = (
        "import sys; from stepscope.trial import fixes, in_script; fixes.every();"
        "print(*sys.modules.keys() - sys.stdlib_module_names)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    foreign = {name.partition(".")[0] for name in found.stdout.split()}
    assert foreign - sys.stdlib_module_names <= {"stepscope", "__main__", *packages_of_site()}
    assert not [name for name in found.stdout.split() if name.startswith(FOR_THE_OUTSIDE)]


def packages_of_site() -> set[str]:
    """What any interpreter of this environment loads by itself."""
    code = "import sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in found.stdout.split()}


def test_subprocesses_of_the_script_run_as_they_are(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    nap = "import time; time.sleep(0.01)"
    script.write_text(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', '{nap}'])")
    assert run_with(script, fixes={NAPS: {"part": 0.5}}, into=tmp_path / "run").said == []
