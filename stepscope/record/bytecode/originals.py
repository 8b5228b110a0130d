"""Python 3.11: marshal reads code objects past everything that hides ticks, so it gets the code
without. Whatever else reads code objects is served by the native core (native/python/twins.h).

From 3.12 on code carries no ticks, and nothing here does anything.
"""

import functools
import marshal
import sys
from collections.abc import Callable
from types import CodeType

from stepscope.native import _core
from stepscope.typed import Any, Final

_HAS_TICKS: Final = sys.version_info < (3, 12)
_undo: list[Callable[[], None]] = []


def plain(code: CodeType) -> CodeType:
    """Without ticks, nested code included, even where the program built `code` around it."""
    original = _core.original_code(code)
    consts = tuple(
        plain(const) if isinstance(const, CodeType) else const for const in original.co_consts
    )
    changed = any(new is not old for new, old in zip(consts, original.co_consts, strict=True))
    return original.replace(co_consts=consts) if changed else original


def install() -> None:
    if not _HAS_TICKS or _undo:
        return
    for name in ("dumps", "dump"):
        _give_plain_code_to(name)


def uninstall() -> None:
    while _undo:
        _undo.pop()()


def _give_plain_code_to(name: str) -> None:
    write = vars(marshal)[name]

    @functools.wraps(write)
    def write_plain(value: Any, *args: Any) -> Any:
        return write(_plain_inside(value), *args)

    setattr(marshal, name, write_plain)
    _undo.append(lambda: setattr(marshal, name, write))


def _plain_inside(value: Any) -> Any:
    """Containers are copied only if they hold code with ticks."""
    if isinstance(value, CodeType):
        return plain(value)
    if type(value) in (tuple, list):
        items = [_plain_inside(item) for item in value]
        changed = any(new is not old for new, old in zip(items, value, strict=True))
        return type(value)(items) if changed else value
    if type(value) is dict:
        fields = {key: _plain_inside(item) for key, item in value.items()}
        return fields if any(fields[key] is not value[key] for key in value) else value
    return value
