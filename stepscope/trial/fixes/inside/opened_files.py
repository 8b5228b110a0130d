"""The files that a piece of code opens."""

import functools
import os
import sys
from typing import Any, Final

_WRITING: Final = frozenset("wax+")

_listening: "list[OpenedFiles]" = []


class OpenedFiles:
    """Those opened for reading, between `with` and its end."""

    def __enter__(self) -> "OpenedFiles":
        self._paths: list[str] = []
        self._writes = False
        _listen()
        _listening.append(self)
        return self

    def __exit__(self, *_error: object) -> None:
        _listening.remove(self)

    def add(self, path: Any, mode: Any) -> None:
        if isinstance(mode, str) and _WRITING & set(mode):
            self._writes = True
        elif isinstance(path, str | bytes | os.PathLike):
            self._paths.append(os.path.abspath(os.fsdecode(path)))

    def read_only(self) -> list[str]:
        """None if it has written some as well."""
        return [] if self._writes else self._paths


@functools.cache  # an audit hook cannot be removed: there is one, which mostly does nothing
def _listen() -> None:
    sys.addaudithook(_see)


def _see(event: str, args: tuple[Any, ...]) -> None:
    if event == "open":
        for each in _listening:
            each.add(args[0], args[1])
