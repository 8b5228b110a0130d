"""While a run is analysed, one line says so: on a terminal only, and it is gone at the end."""

import contextlib
import os
import pty
from pathlib import Path

from cli.running import PATIENCE_S, program, run, start

SAYS = "stepscope: analysing the run …"
WIPED = "\r\x1b[K"


def on_a_terminal(cwd: Path) -> str:
    """All that stderr gets."""
    ours, theirs = pty.openpty()
    process = start(program("exit_with.py"), "0", cwd=cwd, stderr=theirs)
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # EIO: the last writer has gone
        while piece := os.read(ours, 65536):
            said += piece
    os.close(ours)
    process.communicate(timeout=PATIENCE_S)
    return said.decode()


def test_a_terminal_says_what_takes_so_long_and_wipes_it_out(tmp_path: Path) -> None:
    said = on_a_terminal(tmp_path)
    assert f"{WIPED}{SAYS}{WIPED}" in said
    assert said.index(SAYS) < said.index("The whole run") < said.index("writing the report")


def test_a_pipe_gets_the_summary_and_nothing_else(tmp_path: Path) -> None:
    said = run(program("exit_with.py"), "0", cwd=tmp_path).stderr.decode()
    assert "The whole run" in said
    assert "analysing" not in said
    assert "\x1b" not in said
    assert "\r" not in said
