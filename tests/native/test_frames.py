"""The layout of the interpreter's frames: checked at the start, and done without if unknown."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clean_environment import environment
from record.counts_of_programs import Counts, counts_of
from stepscope.native import _core

ROOT = Path(__file__).parents[2]
LAYOUT = f"cpython_3{sys.version_info.minor}.h"
needs_monitoring = pytest.mark.skipif(sys.version_info < (3, 12), reason="3.11 has ticks instead")
PUBLIC = {"STEPSCOPE_FRAMES": "public"}
COUNTED = ROOT / "tests" / "programs" / "lines"

SCRIPT = """\
import time

def busy(turns):
    total = 0
    for turn in range(turns):
        total += turn
    return total

def numbers(count):
    for number in range(count):
        yield number

def main():
    until = time.perf_counter() + 0.5
    while time.perf_counter() < until:
        busy(2000)
    return sum(numbers(10)), [busy(n) for n in range(5)]

main()
"""


def test_the_frames_of_this_python_are_known() -> None:
    assert _core.FRAMES_ARE_PUBLIC == 0


def recorded(folder: Path, env: Mapping[str, str]) -> dict[str, Any]:
    (folder / "script.py").write_text(SCRIPT)
    run = [sys.executable, "-m", "stepscope", "run", "--exact", "--quiet", "-o", "run", "script.py"]
    show = [sys.executable, "-m", "stepscope", "show", "run"]
    where: Any = {"cwd": folder, "env": environment({"STEPSCOPE_REPORT": "off", **env})}
    subprocess.run(run, check=True, timeout=60, **where)
    said = {
        view: json.loads(subprocess.check_output([*show, view, "--json"], timeout=60, **where))
        for view in ("lines", "functions")
    }
    return said


def hits_of(said: dict[str, Any]) -> dict[int, int]:
    """Of the lines that are hit as often each time."""
    lines = [line for each in said["lines"]["functions"] for line in each["lines"]]
    return {line["line"]: line["hits"] for line in lines if line["line"] in (10, 11, 14, 17, 19)}


@needs_monitoring
def test_lines_and_samples_do_without_the_layout(tmp_path: Path) -> None:
    known, public = tmp_path / "known", tmp_path / "public"
    for folder in (known, public):
        folder.mkdir()
    said = recorded(public, PUBLIC)
    assert hits_of(said) == hits_of(recorded(known, {})) == {10: 11, 11: 10, 14: 1, 17: 1, 19: 1}
    (busy,) = [row for row in said["functions"]["functions"] if row["function"] == "busy"]
    assert busy["tottime_ns"] > 100_000_000


@needs_monitoring
def test_doctor_says_that_the_frames_are_unknown(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stepscope", "doctor", "--json", str(tmp_path)]
    checks = json.loads(subprocess.check_output(command, env=environment(PUBLIC)))["checks"]
    (frames,) = [check for check in checks if check["name"] == "frames"]
    assert frames["state"] == "limited"
    assert "public functions" in frames["found"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="later ones do without the layout")
def test_3_11_is_not_recorded_without_the_layout() -> None:
    command = [sys.executable, "-c", "from stepscope.native import _core"]
    done = subprocess.run(command, env=environment(PUBLIC), capture_output=True, text=True)
    assert "has other frames than 3.11" in done.stderr


# --- layouts that are wrong -----------------------------------------------------------------------


def core_built_from(native: Path, folder: Path, flags: str = "") -> Path:
    """`native`: its C files. Returns the folder that a program has to import it from."""
    code = f"""
        from setuptools import Extension, setup
        files = {[str(path) for path in sorted(native.rglob("*.c"))]!r}
        core = Extension("_core", files, include_dirs=[{str(native)!r}], extra_compile_args=["-O1"])
        setup(name="core", ext_modules=[core])
    """
    (folder / "setup.py").write_text(textwrap.dedent(code))
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    env = os.environ | {"CFLAGS": flags}
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)
    return folder


def says_public(folder: Path) -> bool:
    code = "import _core; print(_core.FRAMES_ARE_PUBLIC)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    return bool(int(done.stdout))


@pytest.mark.nightly
@needs_monitoring
@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        ("layout_code", "return frame->f_globals;"),
        ("layout_at", "return (void *)frame->f_builtins;"),
        ("layout_frame_of", "return (void)tstate, (Frame *)16;"),
        ("layout_is_interpreters", "return (void)frame, 1;"),
    ],
)
def test_a_layout_that_is_wrong_is_noticed_and_is_no_crash(
    function: str, wrong: str, tmp_path: Path
) -> None:
    native = shutil.copytree(ROOT / "stepscope" / "native", tmp_path / "native")
    layout = native / "python" / "layouts" / LAYOUT
    before, name, rest = layout.read_text().partition(f"{function}(")
    arguments, brace, body = rest.partition("{")
    layout.write_text(before + name + arguments + brace + wrong + "}\n#if 0\n" + body.replace(
        "}", "}\n#endif\n", 1))  # fmt: skip
    assert says_public(core_built_from(native, tmp_path))


def package_with(core: Path, folder: Path) -> Path:
    """A copy of stepscope with another core. Returns what PYTHONPATH has to be."""
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "bundle")
    package = shutil.copytree(ROOT / "stepscope", folder / "path" / "stepscope", ignore=ignored)
    (built,) = core.glob("_core.*.so")
    shutil.copy(built, package / "native")
    return package.parent


@pytest.mark.nightly
@needs_monitoring
def test_a_python_newer_than_all_that_are_known_counts_through_its_public_functions(
    tmp_path: Path,
) -> None:
    native = ROOT / "stepscope" / "native"
    core = core_built_from(native, tmp_path, "-DSTEPSCOPE_UNKNOWN_LAYOUT")
    assert says_public(core)
    without = {"PYTHONPATH": str(package_with(core, tmp_path))}
    for name in ("loops", "yield_from", "async_throw"):
        counts: list[Counts] = []
        for variables in ({}, without):
            folder = tmp_path / f"{name}-{len(counts)}"
            folder.mkdir()
            counts.append(counts_of(COUNTED / f"{name}.py", folder, variables))
        assert counts[0] == counts[1]
