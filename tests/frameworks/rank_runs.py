"""Programs with several ranks, started by common launchers, and their run folders read."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from frameworks.running import PROGRAMS, QUIET, run, show

DDP = PROGRAMS / "torch/ddp"
SCRIPTS = Path(sys.executable).parent
TORCHRUN = (str(SCRIPTS / "torchrun"), "--nproc-per-node", "2")
STEPSCOPE = (sys.executable, "-m", "stepscope", "run", "--quiet", "-o")
PATIENCE_S = 120.0
TORCHS_ABORT = "terminate called without an active exception"
TRIES = 3


def torchrun(*words: object, folder: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    return run(*TORCHRUN, *(str(word) for word in words), folder=folder, check=check)


def unrecorded(program: str, *arguments: str, folder: Path) -> str:
    """What it prints without us. torch sometimes aborts while it closes gloo, with one of its
    threads still running: such a run says nothing about us, and is repeated."""
    for _ in range(TRIES):
        done = torchrun(DDP / program, *arguments, folder=folder, check=False)
        if TORCHS_ABORT not in done.stderr:
            break
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def recorded(
    program: str, out: Path, *arguments: str, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """`torchrun -m stepscope run program`, both ranks into `out`."""
    words = ("-m", "stepscope", "run", "-o", out, DDP / program, *arguments)
    return torchrun(*words, folder=out.parent, check=check)


def together(
    command: Iterable[object], folder: Path, environments: Iterable[Mapping[str, str]]
) -> list[tuple[int, str, str]]:
    """(status, stdout, stderr) of the same command, started once with each environment."""
    words = [str(word) for word in command]
    started = [
        subprocess.Popen(
            words,
            cwd=folder,
            env={**os.environ, **QUIET, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for environment in environments
    ]
    ended = [(process.communicate(timeout=PATIENCE_S), process) for process in started]
    return [(process.returncode, out, err) for (out, err), process in ended]


def processes(folder: Path) -> list[tuple[str, int | None]]:
    """(role, rank), sorted."""
    files = folder.glob("proc-*/process.json")
    found = [json.loads(file.read_text()) for file in files]
    return sorted(((each["role"], each["rank"]) for each in found), key=str)


def asked(folder: Path, *what: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(show(folder, *what, "--json"))
    return answer


def line_of(program: str, words: str) -> int:
    """The number of the line with that text."""
    lines = (DDP / program).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if words in line)
