"""How the tests use IPython: cells in a shell of their own process, sessions in another."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_S = 120.0  # only how long to wait before a hang counts as a failure
RunCell = Callable[[str], Any]
WORK = """\
def work(n):
    total = 0
    for number in range(n):
        total += number
    return total
"""
HITS_OF_WORK = {2: 1, 3: 6, 4: 5, 5: 1}  # of work(5)


def hits_by_function(profiler: Any) -> dict[str, dict[int, int]]:
    """Of ours or line_profiler's own."""
    timings = profiler.get_stats().timings
    return {name: {line: hits for line, hits, _ in rows} for (_, _, name), rows in timings.items()}


def hits_in(run: Any, function: str) -> dict[int, int]:
    """Of a `stepscope.Run`."""
    found = [each for each in run.lines().functions if each.function == function]
    return {row.line: row.hits for each in found for row in each.lines}


def session(*lines: str, cwd: Path, program: tuple[str, ...] = ("-m", "IPython")) -> str:
    """What `ipython` prints for these lines on its stdin: stdout and stderr as they come."""
    options = ("--no-banner", "--no-confirm-exit", "--colors=nocolor", "--simple-prompt")
    ended = subprocess.run(
        [sys.executable, *program, *options],
        input="\n".join(["%load_ext stepscope", *lines, ""]),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=cwd,
        timeout=PATIENCE_S,
        env={**os.environ, "IPYTHONDIR": str(cwd / ".ipython"), "TERM": "dumb"},
    )
    assert ended.returncode == 0, ended.stdout
    return ended.stdout
