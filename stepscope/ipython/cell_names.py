"""After a recording: cells get their name in tracebacks, `In[3]`, and their text.

To the recorder a cell is a file that does not exist. What is known about it here is appended
to the recorded names; the last entry for a name counts.
"""

import glob
import json
import linecache
import os
from typing import Any, NamedTuple

from stepscope.record.code.user_code import is_notebook_cell
from stepscope.store.format import NAMES_FILE
from stepscope.store.plain_files import append_plain, read_plain
from stepscope.store.writer import keep_text


class Cells(NamedTuple):
    """What IPython knows about the cells, and the recorded text."""

    shell: Any
    recorded: str  # its file name
    is_cell: bool  # else it is a statement after the magic

    def name_of(self, path: str) -> str:
        """A cell and a magic's statement in it are two texts with one number: the smaller part of
        what was typed gets a longer name."""
        name = self._numbered(path)
        is_other = (path == self.recorded) != self.is_cell
        return f"{name} (magic)" if is_other and name == self._numbered(self.recorded) else name

    def _numbered(self, path: str) -> str:
        label_and_name = self.shell.compile.format_code_name(path)
        return label_and_name[1] if label_and_name else path


def name_cells(run_folder: str, cells: Cells) -> None:
    """In all processes of the run: forked ones run the cells' code, too."""
    for path in glob.glob(os.path.join(glob.escape(run_folder), "proc-*", NAMES_FILE)):
        lines = read_plain(path, depth=2).decode().splitlines()
        better = [_better(line, run_folder, cells) for line in lines]
        # On a new line: a killed process may have left half a line.
        entries = ["\n" + json.dumps(entry) for entry in better if entry is not None]
        append_plain(path, "".join([*entries, "\n"]).encode())


def _better(line: str, run_folder: str, cells: Cells) -> dict[str, Any] | None:
    """The entry of a cell, or of a function in one, as it should be."""
    try:
        entry: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    field = {"file": "path", "function": "file"}.get(entry.get("is", ""))
    if field is None or not is_notebook_cell(entry[field]):
        return None
    if entry["is"] == "file":
        entry["source"] = _keep_text(run_folder, entry["path"])
    return {**entry, field: cells.name_of(entry[field])}


def _keep_text(run_folder: str, path: str) -> str | None:
    """IPython keeps the text of its cells where tracebacks look for it."""
    text = "".join(linecache.getlines(path)).encode()
    if not text:
        return None
    return keep_text(run_folder, text)
