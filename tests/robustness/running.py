"""Records the programs of tests/programs/robustness and asks `show` what came of it."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from asking import answer as shown
from clean_environment import environment
from transparency.both import PATIENCE_S

PROGRAMS = Path(__file__).parent.parent / "programs" / "robustness"


def command(run: Path, name: str, *arguments: str, options: Sequence[str] = ()) -> list[str]:
    words = [sys.executable, "-m", "stepscope", "run", "-o", str(run), *options]
    return [*words, str(PROGRAMS / f"{name}.py"), *arguments]


def record(
    folder: Path,
    name: str,
    *arguments: str,
    options: Sequence[str] = (),
    run: Path | None = None,
    before: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    """The recorded program, to its end; the run is in `folder`/run unless said otherwise."""
    return subprocess.run(
        command(run or folder / "run", name, *arguments, options=options),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        preexec_fn=before,
    )


def line_rows(run: Path) -> dict[int, dict[str, Any]]:
    """Line number to its row, for programs of one file."""
    functions = shown(run, "lines", "--top", "1000")["functions"]
    return {row["line"]: row for function in functions for row in function["lines"]}
