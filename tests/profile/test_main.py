"""`python -m stepscope.profile` beside `python -m cProfile`: same arguments, same answers."""

import pstats
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clean_environment import environment
from profile_counts import PROGRAMS
from transparency.both import PATIENCE_S

SAYS = PROGRAMS / "profile" / "says.py"
OURS, THEIRS = "stepscope.profile", "cProfile"


def start(tool: str, *words: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", tool, *words],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        **options,
    )


def plain(text: str) -> list[str]:
    """Without times, and without the one call that only cProfile counts; ties are in any order."""
    counts = re.compile(r"^ +(\d+) function calls(?: \((\d+) primitive calls\))? in T seconds")
    lines = [re.sub(r"\d+\.\d{3}\b", "T", line) for line in text.splitlines()]
    theirs = any("_lsprof.Profiler" in line for line in lines)
    kept = [line for line in lines if "_lsprof.Profiler" not in line]
    return sorted(
        counts.sub(lambda m: " ".join(str(int(n) - theirs) for n in m.groups() if n), line)
        for line in kept
    )


def both(*words: str, cwd: Path) -> tuple[Any, Any]:
    return start(OURS, *words, cwd=cwd), start(THEIRS, *words, cwd=cwd)


@pytest.mark.parametrize(
    "words",
    [
        ["says.py", "end", "-s", "--more"],
        ["says.py", "exit"],
        ["says.py", "raise"],
        ["-s", "name", "says.py"],
        ["--sort", "cumulative", "./says.py"],
    ],
    ids=" ".join,
)
def test_it_runs_a_script_as_cprofile_does(words: list[str], tmp_path: Path) -> None:
    shutil.copy(SAYS, tmp_path)
    ours, theirs = both(*words, cwd=tmp_path)
    assert ours.returncode == theirs.returncode
    assert plain(ours.stdout) == plain(theirs.stdout)
    assert ours.stderr.splitlines()[-1:] == theirs.stderr.splitlines()[-1:]


@pytest.mark.parametrize("words", [["says", "end", "-m"], ["says", "exit"], ["no_such_module"]])
def test_it_runs_a_module_as_cprofile_does(words: list[str], tmp_path: Path) -> None:
    """What else runpy and the import system do depends on what was imported before."""
    shutil.copy(SAYS, tmp_path)
    ours, theirs = both("-m", *words, cwd=tmp_path)
    assert ours.returncode == theirs.returncode
    said, expected = (
        [line for line in plain(each.stdout) if re.search(r"says\.py|<string>:1|^\[", line)]
        for each in (ours, theirs)
    )
    assert said == expected
    assert said
    assert ours.stderr.splitlines()[-1:] == theirs.stderr.splitlines()[-1:]


def test_a_script_beside_us_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("x = 4\n")
    (tmp_path / "main.py").write_text("import neighbour, sys\nprint(neighbour.x, sys.path[:2])\n")
    ours, theirs = both("main.py", cwd=tmp_path)
    assert ours.stdout.startswith("4 ['', ")
    assert ours.stdout.splitlines()[0] == theirs.stdout.splitlines()[0]


@pytest.mark.parametrize("words", [[], ["-s", "2", "x.py"], ["--no-such"], ["-h"]])
def test_usage_is_cprofiles(words: list[str], tmp_path: Path) -> None:
    ours, theirs = both(*words, cwd=tmp_path)
    assert ours.returncode == theirs.returncode
    for name in ("stdout", "stderr"):
        said = getattr(theirs, name).replace("cProfile.py", "stepscope.profile")
        assert getattr(ours, name) == said


def test_a_file_is_written_where_it_was_meant(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "moves.py").write_text("import os\nos.chdir('elsewhere')\n")
    done = start(OURS, "-o", "out.prof", "moves.py", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    stats: Any = pstats.Stats(str(tmp_path / "out.prof"))
    assert ("moves.py", 1, "<module>") in stats.stats


def test_the_script_is_the_main_module(tmp_path: Path) -> None:
    done = start(OURS, "-o", "out.prof", str(SAYS), "pickle", cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "True", done.stderr


def test_what_cannot_be_opened_is_said_in_one_line(tmp_path: Path) -> None:
    done = start(OURS, "nowhere.py", cwd=tmp_path)
    assert done.returncode == 1
    said = "stepscope.profile: can't open file 'nowhere.py': No such file or directory\n"
    assert done.stderr == said


@pytest.mark.parametrize("tool", [OURS, THEIRS])
def test_a_reader_that_goes_away_ends_it_quietly(tool: str, tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("import sys\nfor i in range(10**6): print(i)\n")
    words = [sys.executable, "-m", tool, "long.py"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "0\n"
        process.stdout.close()
        assert "Exception ignored" not in process.stderr.read()
        assert process.wait(PATIENCE_S) == 32  # EPIPE


def test_options_without_a_script_get_the_usage(tmp_path: Path) -> None:
    done = start(OURS, "-s", "calls", cwd=tmp_path)  # cProfile crashes here
    assert done.returncode == 2
    assert done.stdout.startswith("Usage: stepscope.profile")


def test_the_example_does_what_the_documentation_shows(tmp_path: Path) -> None:
    example = PROGRAMS.parent.parent / "examples" / "function_by_function.py"
    words = [sys.executable, str(example)]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.stdout.startswith("1000\n"), done.stderr
    assert "(counted)" in done.stdout
    assert "Ordered by: internal time" in done.stdout
