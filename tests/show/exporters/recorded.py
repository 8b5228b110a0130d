"""A small training, really recorded, for the exporters' tests."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import asking
from clean_environment import environment

PROGRAM = Path(__file__).parents[2] / "programs" / "export" / "small_training.py"
STEPS = 12
PATIENCE_S = 60.0  # only how long to wait before a hang counts as a failure


def python(
    *arguments: str, folder: Path, status: int = 0, **options: Any
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        **options,
    )
    assert done.returncode == status, done.stderr
    return done


def stepscope(*arguments: str, folder: Path, status: int = 0, **options: Any) -> str:
    """Its stderr."""
    return python("-m", "stepscope", *arguments, folder=folder, status=status, **options).stderr


def record(folder: Path) -> Path:
    """`folder`, with the run in `run`."""
    program = folder / PROGRAM.name
    program.write_text(PROGRAM.read_text())
    options = ("--calls", "--exact", "--quiet", "-o", "run")
    stepscope("run", *options, program.name, folder=folder)
    return folder


def shown(view: str, *options: str, folder: Path) -> Any:
    """The answer of `show --json`."""
    return asking.answer(folder / "run", view, *options)
