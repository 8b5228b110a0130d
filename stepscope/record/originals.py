"""3.11: whoever reads code objects gets the original."""

from collections.abc import Callable
from types import CodeType

WATCHED: frozenset[str] = frozenset()


def install(original_code: Callable[[CodeType], CodeType]) -> None: ...
def patch(name: str) -> None: ...
def uninstall() -> None: ...
