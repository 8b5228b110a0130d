"""The source distribution, unpacked somewhere else, builds there and passes its own tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Those that read files of the repository, and those that start recorded processes.
TESTS = (
    *("tests/cli", "tests/native", "tests/show", "tests/store", "tests/test_architecture.py"),
    *("tests/test_docs.py", "tests/test_findings_docs.py", "tests/test_package.py"),
)
PATIENCE_S = 1800.0


def done(*command: str | Path, folder: Path) -> None:
    words = [str(word) for word in command]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]


def interpreter(folder: Path, package: Path) -> Path:
    """A Python that finds the unpacked package first, and all else where it is here."""
    done(sys.executable, "-m", "venv", "--without-pip", folder, folder=package)
    (site,) = folder.glob("lib/python*/site-packages")
    others = dict.fromkeys(path for path in sys.path if path.endswith("site-packages"))
    (site / "unpacked.pth").write_text("\n".join([str(package), *others]) + "\n")
    return folder / "bin/python"


@pytest.mark.nightly
def test_the_tests_pass_where_the_source_distribution_was_unpacked(tmp_path: Path) -> None:
    made = ("egg_info", "--egg-base", tmp_path, "sdist", "--dist-dir", tmp_path)
    done(sys.executable, "setup.py", "--quiet", *made, folder=ROOT)
    (archive,) = tmp_path.glob("stepscope-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path, filter="data")
    (package,) = tmp_path.glob("stepscope-*/")
    python = interpreter(tmp_path / "python", package)
    done(python, "-W", "ignore", "setup.py", "--quiet", "build_ext", "--inplace", folder=package)
    done(python, "-m", "pytest", "-x", "-p", "no:cacheprovider", *TESTS, folder=package)
