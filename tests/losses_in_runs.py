"""Whether a recording lost something that it should have kept: it says so in its run."""

import os
from collections.abc import Iterator
from pathlib import Path

LOST = "Recording lost something"
WITH_NOTES = ("names.jsonl", "notes.jsonl")


class Watch:
    """Below one folder, in which every test has folders of its own."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._seen: set[str] = set()

    def new_losses(self, own: Path | None) -> list[str]:
        """Of the runs in folders that came since the last call, and in the test's own."""
        folders = {entry.path for entry in os.scandir(self._base) if entry.is_dir()}
        new = folders - self._seen | ({str(own)} if own is not None else set())
        self._seen |= folders
        return [note for folder in sorted(new) for note in losses_in(folder)]


def losses_in(folder: str | Path) -> Iterator[str]:
    for place, _, files in os.walk(folder):
        for name in files:
            if name in WITH_NOTES:
                text = Path(place, name).read_text("utf-8", "replace")
                yield from (f"{place}: {line}" for line in text.splitlines() if LOST in line)
