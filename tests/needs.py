"""What some tests need, and the message if it is missing."""

import importlib.util

import pytest

from stepscope.show.report import bundle

_NO_PAGE = "the report's page was not built: that takes Node"

page = pytest.mark.skipif(not bundle.is_built(), reason=_NO_PAGE)


def package(name: str) -> pytest.MarkDecorator:
    """Checked without importing it, which would change the tests' own process."""
    return pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=_not_installed(name))


def require(name: str) -> None:
    """The same from inside a test."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(_not_installed(name))


def require_page() -> None:
    if not bundle.is_built():
        pytest.skip(_NO_PAGE)


def _not_installed(name: str) -> str:
    return f"{name} is not installed for this Python"
