"""What a terminal shows while a trial goes on: one line, which is gone when something is said."""

import io
import re
import sys

import pytest

from stepscope.cli.try_ import _Talk
from stepscope.model.trial import Rung


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def screen(text: str, columns: int) -> list[str]:
    """The lines that a terminal of that width would show."""
    lines = [""]
    for part in re.findall(r"\r|\n|\x1b\[K|[^\r\n\x1b]+", text):
        if part == "\n":
            lines.append("")
        elif part == "\x1b[K":
            lines[-1] = ""
        elif part != "\r":
            lines[-1] += part
            while len(lines[-1]) >= columns:
                lines.append(lines[-1][columns:])
                lines[-2] = lines[-2][:columns]
    return lines


@pytest.mark.parametrize("columns", [80, 120])
def test_the_line_fits_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    talk = _Talk()
    talk.round("fix 12 of 14, evaluate-less-often", 2, 5, 1234.0)
    assert screen(terminal.getvalue(), columns) == [
        "fix 12 of 14, evaluate-less-often: round 2 of at most 5, at most 21 min left"
    ]
    talk.round(f"fix 1 of 2, {'a.very.long.name.of.a.module' * 5}", 2, 5, 42.0)
    assert len(screen(terminal.getvalue(), columns)) == 1
    rung = Rung(fix="a", title="", finding=None, predicted=None, status="failed", reason="it died")
    talk.rung(rung)
    talk.round("control", 1, 3, 42.0)
    assert screen(terminal.getvalue(), columns)[-1].endswith("at most 40 s left")
    talk.end()
    assert screen(terminal.getvalue(), columns) == ["stepscope: a: failed, it died", ""]


def test_where_nobody_looks_there_is_no_such_line(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    talk = _Talk()
    talk.round("control", 1, 3, 42.0)
    talk.end()
    assert file.getvalue() == ""
