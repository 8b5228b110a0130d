"""Modules, packages, archives, interpreter flags and odd scripts: as without us, too."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from clean_environment import environment
from transparency.both import PATIENCE_S, Both, both, fresh_folder, program
from transparency.test_programs import was_recorded

SAY = """\
import sys
import __main__
import pkgutil

def work(n):
    total = 0
    for i in range(n):
        total += i
    return total

print(__name__, __file__, __package__, __spec__ and __spec__.name, type(__loader__).__name__)
print(sys.argv, sys.path[:2], work(10), sorted(vars(__main__)))
print(sys.flags, __debug__)
"""
DATA = "print(pkgutil.get_data('pkg', 'data.txt'), __import__('pkg.part').part.f())\n"
PACKAGE: dict[str, str | bytes] = {
    "pkg/__init__.py": "import sys\nprint('package', __name__, sys.argv)\n",
    "pkg/__main__.py": SAY + DATA,
    "pkg/part.py": "def f():\n    return __file__\n",
    "pkg/data.txt": "some data",
}
HIDING = ("bisect bytecode calendar click contextlib ctypes dataclasses fcntl fnmatch glob hashlib"
          " inspect json logging msgspec platform queue random socket statistics struct tempfile"
          " textwrap typing uuid").split()  # fmt: skip


def archive(files: dict[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        for name, content in files.items():
            target.writestr(zipfile.ZipInfo(name), content)
    return b"#!/usr/bin/env python3\n" + made.getvalue()


def check(outcomes: Both, *, recorded: bool = True) -> None:
    assert outcomes.recorded == outcomes.plain
    assert was_recorded(outcomes.run) is recorded


def test_a_package_is_started_with_m(tmp_path: Path) -> None:
    outcomes = both(tmp_path, PACKAGE, ["-m", "pkg", "x", "-m"])
    check(outcomes)
    assert "some data" in outcomes.plain.stdout


def test_a_module_in_a_package_is_started_with_m(tmp_path: Path) -> None:
    check(both(tmp_path, {**PACKAGE, "pkg/part.py": SAY}, ["-m", "pkg.part"]))


def test_a_folder_with_a_main_file_is_started(tmp_path: Path) -> None:
    check(both(tmp_path, {"app/__main__.py": SAY}, ["app", "x"]))


def test_an_archive_is_started(tmp_path: Path) -> None:
    inside = {"__main__.py": PACKAGE["pkg/__main__.py"], **PACKAGE}
    check(both(tmp_path, {"app.pyz": archive(inside)}, ["app.pyz", "x"]))


def test_a_missing_module_is_reported_by_python_itself(tmp_path: Path) -> None:
    check(both(tmp_path, PACKAGE, ["-m", "pkg.missing"]), recorded=True)


@pytest.mark.parametrize("flags", [["-X", "dev"], ["-OO"], ["-W", "error"], ["-B", "-q"], ["-bb"]])
def test_the_interpreters_flags_are_passed_on(flags: list[str], tmp_path: Path) -> None:
    # Whether we ourselves import without a warning is no concern here.
    check(both(tmp_path, {"say.py": SAY}, ["say.py"], flags=flags))


def test_modules_that_hide_standard_ones_are_the_scripts_own(tmp_path: Path) -> None:
    files = {f"{name}.py": f"MINE = {name!r}\n" for name in HIDING}
    name = "hidden_standard_modules"
    options = ["--include", "nothing*", "--exclude", "else*"]
    check(both(tmp_path, {**files, **program(name)}, [f"{name}.py"], options=options))


@pytest.mark.parametrize("begins", ["with an empty cache", "with the script in the cache"])
def test_a_module_that_hides_the_bytecode_package_runs_only_when_imported(
    begins: str, tmp_path: Path
) -> None:
    files = {"bytecode.py": "print('mine')\n", "say.py": SAY, "other.py": SAY}
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    if begins == "with the script in the cache":
        both(tmp_path, files, ["other.py"], env=env)
    check(both(tmp_path, files, ["say.py"], options=["--force"], env=env))


def test_every_line_of_the_standard_library_can_be_recorded_once_the_script_is_cached(
    tmp_path: Path,
) -> None:
    """What writes ticks needs some of these modules itself: it is loaded before them."""
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    files = {"say.py": "import importlib.util, dis, enum\n" + SAY}
    for _ in range(2):
        check(both(tmp_path, files, ["say.py"], options=["--force", "--include", "*"], env=env))


def test_a_module_named_like_us_is_the_scripts_own(tmp_path: Path) -> None:
    files = {
        "say.py": "import stepscope\nprint(stepscope.__file__, stepscope.MINE)\n" + SAY,
        "stepscope.py": "MINE = 1\n",
    }
    check(both(tmp_path, files, ["say.py"], flags=["-P"]))


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "POSIX"])
def test_locale_and_encodings_are_the_scripts_own(locale: str, tmp_path: Path) -> None:
    script = (
        "import sys, locale, os\n"
        "print(sys.stdout.encoding, sys.stdin.errors, locale.getlocale(), sys.flags.utf8_mode)\n"
        "print(ascii(open('daten-ü').read()), ascii(os.listdir()), ascii(sys.argv))\n"
        "sys.stdout.buffer.write('ünicode'.encode('latin-1'))\n"
    )
    files = {"say.py": script, "daten-ü": "inhalt"}
    env = {"LC_ALL": locale, "PYTHONIOENCODING": "latin-1" if locale == "POSIX" else ""}
    check(both(tmp_path, files, ["say.py", "ärgument"], env=env))


@pytest.mark.nightly  # long
def test_a_script_of_fifty_thousand_lines_runs(tmp_path: Path) -> None:
    functions = "".join(f"def f{i}(n):\n    n += {i}\n    return n\n\n\n" for i in range(10_000))
    script = functions + "print(sum(globals()[f'f{i}'](i) for i in range(10_000)))\nf9('x')\n"
    assert script.count("\n") > 50_000
    check(both(tmp_path, {"huge.py": script}, ["huge.py"]))


def test_one_function_of_thousands_of_lines_runs(tmp_path: Path) -> None:
    body = "".join(f"    n += {i % 7}\n" for i in range(4_000))
    script = f"def f(n):\n{body}    return n\nprint(f(1))\nf('x')\n"
    check(both(tmp_path, {"long.py": script}, ["long.py"]))


def test_a_script_without_a_single_statement_runs(tmp_path: Path) -> None:
    check(both(tmp_path, {"empty.py": b""}, ["empty.py"]), recorded=False)


def test_a_script_with_odd_line_ends_and_an_encoding_runs(tmp_path: Path) -> None:
    script = (
        b"# -*- coding: latin-1 -*-\r\nx = '\xe4'\rprint(ascii(x))\r\n\x0cdef f():\r\n 1/0\rf()"
    )
    check(both(tmp_path, {"odd.py": script}, ["odd.py"]))


def test_closed_standard_streams_stay_closed(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "with open('said.txt', 'w') as file:\n"
        "    print(file.fileno(), sys.stdin, sys.stdout, sys.stderr, file=file)\n"
        "os.system('cat said.txt >&0')\n"
    )
    recorded = ["-m", "stepscope", "run", "--quiet", "-o", str(tmp_path / "run"), "say.py"]
    folder, texts = tmp_path / "program", []
    for words in (["say.py"], recorded):
        fresh_folder(folder, {"say.py": script})
        closing = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", sys.executable, *words]
        subprocess.run(closing, cwd=folder, env=environment(), timeout=PATIENCE_S)
        texts.append((folder / "said.txt").read_text())
    assert texts[0] == texts[1] != ""
