"""One line on stderr that says what stepscope is doing, only where stderr is a terminal."""

import contextlib
import shutil
import sys
from collections.abc import Iterator
from typing import Final

from stepscope.spelled_out import spelled_out

_WIPE: Final = "\r\033[K"


class ProgressLine:
    """Each text replaces the one before; `end` leaves an empty line."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()

    def show(self, words: str) -> None:
        width = shutil.get_terminal_size().columns - 1  # a longer one could not be wiped out
        self._write(_WIPE + spelled_out(words, lines=False)[:width])

    def end(self) -> None:
        self._write(_WIPE)

    @contextlib.contextmanager
    def doing(self, words: str) -> Iterator[None]:
        self.show(f"stepscope: {words} …")
        try:
            yield
        finally:
            self.end()

    def _write(self, text: str) -> None:
        if not self._is_terminal:
            return
        with contextlib.suppress(OSError):  # the reader is gone
            sys.stderr.write(text)
            sys.stderr.flush()
