"""The package as others see it: what an import loads, what is installed."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = {"numpy", "polars", "rich", "msgspec", "click"}


def modules_after(code: str) -> set[str]:
    """Top-level modules that `python -X importtime` saw, our own left out."""
    # coverage and similar tools start themselves through the environment
    clean = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=clean,
    )
    rows = [line for line in run.stderr.splitlines() if line.startswith("import time:")]
    names = {row.rpartition("|")[2].strip() for row in rows}
    return {name.partition(".")[0] for name in names} - {"stepscope", "imported package"}


def test_importing_stepscope_imports_no_third_party_module() -> None:
    added = modules_after("import stepscope") - modules_after("pass")
    assert added <= sys.stdlib_module_names


def test_importing_stepscope_imports_little_of_the_standard_library() -> None:
    added = modules_after("import stepscope") - modules_after("pass")
    assert not added & {
        "asyncio",
        "multiprocessing",
        "subprocess",
        "inspect",
        "json",
        "typing_extensions",
    }


def test_the_recording_side_loads_nothing_of_the_analysis() -> None:
    added = modules_after("import stepscope.record.boot, stepscope.record.recording")
    assert not added & HEAVY


def test_help_loads_no_analysis_library() -> None:
    added = modules_after(
        "import sys; sys.argv = ['stepscope', '--help']\n"
        "from stepscope.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass"
    )
    assert not added & {"numpy", "polars"}


def test_the_list_of_views_loads_nothing_of_what_it_names() -> None:
    assert not modules_after("import stepscope.views") & HEAVY


def test_the_marks_do_nothing_when_nothing_records() -> None:
    import stepscope

    with stepscope.region("quiet"):
        stepscope.step()
    assert list(stepscope.steps([1, 2, 3])) == [1, 2, 3]


def test_every_public_name_exists_and_the_list_is_sorted() -> None:
    import stepscope

    assert list(stepscope.__all__) == sorted(stepscope.__all__)
    assert [name for name in stepscope.__all__ if not hasattr(stepscope, name)] == []


def test_the_console_command_is_installed() -> None:
    commands = importlib.metadata.entry_points(group="console_scripts", name="stepscope")
    assert [command.value for command in commands] == ["stepscope.cli.main:main"]


def test_the_version_is_the_same_everywhere() -> None:
    import stepscope

    assert stepscope.__version__ == importlib.metadata.version("stepscope")
    assert f"## [{stepscope.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("path", ["py.typed", "native/_core.pyi", "record/shim/sitecustomize.py"])
def test_what_is_not_python_code_of_a_package_is_there_too(path: str) -> None:
    assert (ROOT / "stepscope" / path).is_file()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this copy is not a git repository")
def test_the_source_distribution_has_all_that_the_repository_has(tmp_path: Path) -> None:
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    tracked = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    made = (sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", tmp_path)
    subprocess.run(made, cwd=ROOT, capture_output=True, check=True)
    packed = (tmp_path / "stepscope.egg-info/SOURCES.txt").read_text().splitlines()
    here = {path for path in tracked.splitlines() if (ROOT / path).exists()}
    assert here - set(packed) == set()
