"""The runs that tests record, and whether one lost something: it says so in its run."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

LOST = "Recording lost something"
WITH_NOTES = ("names.jsonl", "notes.jsonl")
RECORDED = "supervisor.json"  # of a run that `stepscope run` recorded to its end


class Watch:
    """Below one folder, in which every test has folders of its own."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._seen: set[str] = set()

    def new_folders(self, own: Path | None) -> list[str]:
        """Those that came since the last call, and the test's own."""
        folders = {entry.path for entry in os.scandir(self._base) if entry.is_dir()}
        new = folders - self._seen | ({str(own)} if own is not None else set())
        self._seen |= folders
        return sorted(new)


def losses_in(folder: str | Path) -> Iterator[str]:
    for place, _, files in os.walk(folder):
        for name in files:
            if name in WITH_NOTES:
                text = Path(place, name).read_text("utf-8", "replace")
                yield from (f"{place}: {line}" for line in text.splitlines() if LOST in line)


def recorded_in(folder: str | Path) -> Iterator[Path]:
    """The folders of real runs at any level below it: of `stepscope run`, or of several ranks."""
    second_rank = f"proc-1-{socket.gethostname()}-"
    for place, folders, files in os.walk(folder):
        if RECORDED in files or any(each.startswith(second_rank) for each in folders):
            yield Path(place)
