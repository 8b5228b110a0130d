"""How the tests of `stepscope run` start it: as a user would, in its own process."""

import json
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clean_environment import environment

PROGRAMS = Path(__file__).parent.parent / "programs" / "run"
PATIENCE_S = 60.0  # only how long to wait before a hang counts as a failure


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "stepscope", "run", *words]


def start(
    *words: str, cwd: Path, env: Mapping[str, str] = {}, **options: Any
) -> subprocess.Popen[bytes]:
    """Started but not waited for; its output comes through pipes."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0, **options}
    return subprocess.Popen(command(*words), cwd=cwd, env=environment(env), **options)


def run(
    *words: str, cwd: Path, env: Mapping[str, str] = {}, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """`stepscope run words...` to its end."""
    options = {"stdin": subprocess.DEVNULL, **options}
    return subprocess.run(
        command(*words),
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        timeout=PATIENCE_S,
        **options,
    )


def plain(*words: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The same without stepscope: what the script does on its own."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        **options,
    )


def program(name: str) -> str:
    return str(PROGRAMS / name)


def runs_in(folder: Path) -> list[Path]:
    return sorted(path.parent for path in (folder / "stepscope-runs").glob("*/run.json"))


def read_json(path: Path) -> dict[str, Any]:
    fields = json.loads(path.read_text())
    assert isinstance(fields, dict)
    return fields


def processes(run_folder: Path) -> list[dict[str, Any]]:
    return [read_json(file) for file in sorted(run_folder.glob("proc-*/process.json"))]


def wait_for_line(process: subprocess.Popen[bytes]) -> str:
    """The next line the script prints; the pipe must be unbuffered."""
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], PATIENCE_S)[0]:
        process.kill()
        raise AssertionError(f"no line came: {process.communicate()}")
    return process.stdout.readline().decode().strip()


def finish(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    """Status (negative: the signal it died of), what is left of stdout, stderr."""
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"it hung: {out!r} {err!r}") from None
    return process.returncode, out, err
