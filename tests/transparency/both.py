"""Runs a program twice in the same place, plainly and recorded, to compare what came of it."""

import dataclasses
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from clean_environment import environment

PROGRAMS = Path(__file__).parent.parent / "programs" / "transparency"
PATIENCE_S = 120.0  # only how long to wait before a hang counts as a failure

# faulthandler lists the extension modules that are loaded, and ours is one.
_OUR_EXTENSION = r"\n\nExtension modules: stepscope\.native\._core \(total: 1\)"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What anybody outside can see of a program's run."""

    status: int
    stdout: str
    stderr: str


@dataclasses.dataclass(frozen=True)
class Both:
    plain: Outcome
    recorded: Outcome
    run: Path  # the run folder of the recorded one


def fresh_folder(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Both runs must find the same: tracebacks and the like name the place."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def both(
    tmp_path: Path,
    files: Mapping[str, str | bytes],
    words: Sequence[str],
    *,
    flags: Sequence[str] = (),
    options: Sequence[str] = (),
    stdin: bytes = b"",
    env: Mapping[str, str] = {},
) -> Both:
    """`python FLAGS WORDS` and `python FLAGS -m stepscope run OPTIONS WORDS`."""
    folder, run = tmp_path / "program", tmp_path / "run"
    # -P: the folder is not on our own path, as with the console command.
    recorded_words = ["-P", "-m", "stepscope", "run", "--quiet", "-o", str(run), *options, *words]
    outcomes = []
    for command in (list(words), recorded_words):
        fresh_folder(folder, files)
        done = subprocess.run(
            [sys.executable, *flags, *command],
            cwd=folder,
            env=environment(env),
            input=stdin,
            capture_output=True,
            timeout=PATIENCE_S,
        )
        outcomes.append(Outcome(done.returncode, _text(done.stdout), _text(done.stderr)))
    return Both(outcomes[0], outcomes[1], run)


def _text(output: bytes) -> str:
    """Addresses and process numbers differ from run to run, recorded or not."""
    text = output.decode("utf-8", "backslashreplace")
    text = re.sub(r"\b0x[0-9a-f]{6,}|(?<=pid=)\d+|(?<=started )\d+", "...", text)
    return re.sub(_OUR_EXTENSION, "", text)


def program(name: str) -> dict[str, str | bytes]:
    return {f"{name}.py": (PROGRAMS / f"{name}.py").read_text()}


def stdin_for(name: str) -> bytes:
    file = PROGRAMS / f"{name}.stdin"
    return file.read_bytes() if file.exists() else b""
