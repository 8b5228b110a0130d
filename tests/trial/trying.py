"""How the tests of `stepscope try` start it: as a user would, in its own process."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from clean_environment import environment

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs" / "trial"
PATIENCE_S = 300.0
OWN = "trial.own_fixes"
PATH = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])  # where the tests' own fixes are found


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "stepscope", "try", *words]


def start(*words: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*words),
        cwd=cwd,
        env=environment({"PYTHONPATH": PATH}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    process = start(*words, cwd=cwd)
    out, err = process.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def answered(*words: str, cwd: Path) -> dict[str, Any]:
    ended = run("--json", *words, cwd=cwd)
    assert ended.returncode == 0, ended.stderr
    answer = json.loads(ended.stdout)
    assert isinstance(answer, dict)
    return answer


def by_fix(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {rung["fix"].rpartition(".")[2]: rung for rung in answer["rungs"]}


def processes_of(folder: Path) -> list[int]:
    """Those that run in a run below this folder."""
    mark = f"STEPSCOPE_RUN={folder}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
