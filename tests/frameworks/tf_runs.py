"""Programs with TensorFlow or Keras, several in one process: loading it takes seconds."""

import functools
import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from frameworks.running import PROGRAMS, run
from stepscope.analyze.answers.steps import steps
from stepscope.store.reader import open_run

SEVERAL = PROGRAMS / "tf/several.py"


def several(
    folder: str,
    names: list[str],
    out: Path | None = None,
    environment: dict[str, str] | None = None,
) -> dict[str, str]:
    """What each of the programs printed; `out`: where the runs are recorded."""
    options = ("-o", out) if out is not None else ()
    command = (sys.executable, SEVERAL, *options, *names)
    done = run(*command, folder=PROGRAMS / folder, check=True, **(environment or {}))
    printed: dict[str, str] = {}
    for part in done.stdout.split("--- ")[1:]:
        name, _, text = part.partition("\n")
        printed[name] = text
    return printed


@functools.cache
def steps_of(folder: Path) -> dict[str, Any]:
    """What `show steps --each --json` prints."""
    answer: dict[str, Any] = msgspec.to_builtins(steps(open_run(folder), each=True))
    return answer


def categories(folder: Path) -> set[str]:
    """Over all steps together."""
    each = steps_of(folder)["each"]
    return {name for step in each for name, ns in step["phases"].items() if ns > 0}


def notes_of(folder: Path) -> list[str]:
    return [entry["text"] for entry in _entries(folder) if entry["is"] == "note"]


def span_names(folder: Path) -> set[str]:
    """Every name that a span or a window has."""
    return {entry["name"] for entry in _entries(folder) if entry["is"] == "name"}


def _entries(folder: Path) -> list[dict[str, Any]]:
    files = folder.glob("proc-*/names.jsonl")
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]
