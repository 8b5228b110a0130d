"""The content without the user's source text, for reports that are shared."""

import typing
from typing import Any, Final

import msgspec
from msgspec.structs import fields

from stepscope.show.report.shapes import Content
from stepscope.views import VIEWS

_TEXTS: Final = ("source", "patch", "hottest_source")
_LEAST_LETTERS: Final = 8  # shorter lines (`try:`) say nothing and are everywhere


def without_source(content: Content) -> Content:
    """Names and places stay. Source texts become null, or "…" where a sentence quotes one."""
    texts = {" ".join(line.split()) for lines in (content.sources or {}).values() for line in lines}
    lines = sorted((text for text in texts if len(text) >= _LEAST_LETTERS), key=len, reverse=True)
    answers = [field for field in fields(type(content)) if field.name in VIEWS]
    quoting = ["verdict", *(field.name for field in answers if _has_text(field.type))]
    cleared = {name: _cleared(getattr(content, name), lines) for name in quoting}
    return msgspec.structs.replace(content, sources=None, **cleared)


def _has_text(hint: Any) -> bool:
    """Whether a record of this type holds source text; then its sentences may quote it, too."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return any(each.name in _TEXTS or _has_text(each.type) for each in fields(hint))
    return any(map(_has_text, typing.get_args(hint)))


def _cleared(value: Any, lines: list[str]) -> Any:
    if isinstance(value, msgspec.Struct):
        cleared = {
            name: _of_field(name, getattr(value, name), lines) for name in value.__struct_fields__
        }
        return msgspec.structs.replace(value, **cleared)
    if isinstance(value, list):
        return [_cleared(each, lines) for each in value]
    return _unquoted(value, lines) if isinstance(value, str) else value


def _of_field(name: str, value: Any, lines: list[str]) -> Any:
    if name not in _TEXTS:
        return _cleared(value, lines)
    return [None] * len(value) if isinstance(value, list) else None


def _unquoted(text: str, lines: list[str]) -> str:
    plain = " ".join(text.split())
    for line in lines:
        if line in plain:
            plain = plain.replace(line, "…")
            text = plain
    return text
