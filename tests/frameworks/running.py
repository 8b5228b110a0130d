"""Runs programs with a framework, and reads their run folders."""

import os
import subprocess
import sys
from pathlib import Path

from asking import page

PROGRAMS = Path(__file__).parent.parent / "programs"
show = page
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TOKENIZERS_PARALLELISM": "false"}


def run(
    *command: str | Path, folder: Path | None = None, check: bool = True, **environment: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **QUIET, **environment},
        timeout=300,
        check=False,
    )
    if check:
        assert done.returncode == 0, done.stderr[-3000:]
    return done


def plain(program: Path, *arguments: str, folder: Path | None = None) -> str:
    return run(sys.executable, program, *arguments, folder=folder).stdout


def record(program: Path, out: Path, *options: str, arguments: tuple[str, ...] = ()) -> Path:
    """The run folder."""
    stepscope = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o", out)
    run(*stepscope, *options, program, *arguments)
    return out
