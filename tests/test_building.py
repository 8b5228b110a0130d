"""Building the package where something is missing: each message says what to install."""

import os
import platform
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from building import compiler
from stepscope.launch.support import NEWEST, OLDEST

ROOT = Path(__file__).parents[1]
SYSTEMS = {
    "ubuntu debian": "apt-get install gcc",
    "rhel fedora": "dnf install gcc",
    "opensuse-leap suse opensuse": "zypper install gcc",
    "arch": "pacman -S gcc",
    "alpine": "apk add gcc musl-dev",
    "another": "install gcc or clang",
}


def test_without_a_compiler_the_build_says_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "setup.py", "--quiet", "build_ext"]
    command += ["--build-temp", str(tmp_path), "--build-lib", str(tmp_path)]
    without = {name: value for name, value in os.environ.items() if name not in ("CC", "PATH")}
    built = subprocess.run(
        command, cwd=ROOT, env={**without, "PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert built.returncode == 1
    assert "there is no C compiler here" in built.stderr
    assert "Get one, then install stepscope again:" in built.stderr
    assert "Traceback" not in built.stderr


@pytest.mark.parametrize("names", SYSTEMS)
def test_the_advice_is_the_systems_own_command(names: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _, like = names.partition(" ")
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": name, "ID_LIKE": like})
    monkeypatch.setenv("PATH", "/nonexistent")
    assert SYSTEMS[names] in str(compiler.what_is_missing())


def test_missing_headers_are_not_called_a_missing_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", sys.executable)  # any program that is there
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    missing = str(compiler.what_is_missing())
    assert f"the headers of this Python are not in '{tmp_path}'" in missing
    assert "compiler" not in missing


def supported_pythons() -> list[str]:
    return [f"3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]


def test_packages_are_made_for_every_python_that_is_supported() -> None:
    workflow = (ROOT / ".github/workflows/packages.yml").read_text()
    metadata = (ROOT / "pyproject.toml").read_text()
    installed = re.search(r"python: \[(.*)\]", workflow)
    assert installed is not None
    assert re.findall(r"[\d.]+", installed[1]) == supported_pythons()
    assert re.findall(r"Python :: (3\.\d+)", metadata) == supported_pythons()
    assert f"set -- {' '.join(supported_pythons())}\n" in (ROOT / ".ci/wheels").read_text()


def test_the_workflows_call_scripts_that_can_be_called() -> None:
    text = "".join(path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml"))
    scripts = set(re.findall(r"\.ci/[\w-]+", text))
    assert len(scripts) > 1
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)
