"""Asks a run for its answers in this process: starting another takes longer than answering."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

from stepscope.cli.main import main


def page(run: Path, *what: str) -> str:
    """What `stepscope show` prints."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(printed):
        status = main(["show", str(run), *what])
    text = printed.buffer.getvalue().decode()
    assert status == 0, text
    return text


def answer(run: Path, *what: str) -> dict[str, Any]:
    """What `stepscope show --json` prints."""
    found: dict[str, Any] = json.loads(page(run, *what, "--json"))
    return found
