"""A command to be typed: on a terminal too narrow for it, continued as a shell reads it."""

import shlex
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from stepscope.show.terminal.drawing.page import CODE, FAINT

_CONTINUED: Final = " \\"
_DEEPER: Final = "  "  # how far the continuation is indented


class Command:
    """`words` say what it is for. Cut off, it would be another command."""

    def __init__(self, command: str, words: str = "  ", style: str = CODE) -> None:
        self._command = command
        self._words = words
        self._style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - cell_len(self._words)
        is_whole = not options.is_terminal or cell_len(self._command) <= room
        lines = [self._command] if is_whole else _continued(self._command, room)
        before = self._words
        for line in lines:
            text = Text(before, style=FAINT, no_wrap=True, overflow="ignore")
            yield text.append(line, style=self._style)
            before = " " * cell_len(self._words) + _DEEPER


def _continued(command: str, room: int) -> list[str]:
    """As many words in a line as there is room for."""
    lines: list[str] = []
    for word in _words(command):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and cell_len(longer + _CONTINUED) > room - len(_DEEPER):
            lines[-1] += _CONTINUED
            lines.append(word)
        else:
            lines[-1:] = [longer]
    return lines


def _words(command: str) -> list[str]:
    """Each as it is quoted; a text that no shell could read stays whole."""
    try:
        return [shlex.quote(word) for word in shlex.split(command)]
    except ValueError:
        return [command]
