"""Frames that only pass an import on."""

from typing import Final

_MACHINERY: Final = "<frozen importlib"


def is_import_machinery(file: str) -> bool:
    return file.startswith(_MACHINERY)
