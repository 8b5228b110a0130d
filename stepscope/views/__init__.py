"""All views of a run. A new one is a module here plus its name in the list below."""

import importlib
from collections.abc import Iterator
from typing import Any, Final

from stepscope.views.view import View

# In the order in which help and docs list them.
_NAMES: Final = (
    "summary",
    "findings",
    "steps",
    "lines",
    "functions",
    "regions",
    "actions",
    "ops",
    "kernels",
    "device",
    "input",
    "files",
    "memory",
    "ranks",
    "processes",
)


def _view(name: str) -> View[Any]:
    """The record in the view's file has the view's name."""
    found: View[Any] = getattr(importlib.import_module(f"stepscope.views.{name}"), name.upper())
    return found


VIEWS: Final = {name: _view(name) for name in _NAMES}


def every_view() -> Iterator[View[Any]]:
    """Also the views that an option selects, each after the view it replaces."""
    for view in VIEWS.values():
        yield view
        yield from view.instead.values()
