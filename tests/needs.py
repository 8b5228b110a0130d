"""What some tests need, and the message if it is missing."""

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

from stepscope.show.report import bundle

_NO_PAGE = "the report's page was not built: that takes Node"
# Recorded on GPUs and TPUs by others. Some are too large for the repository, so they lie beside it.
_BESIDE = Path(__file__).parents[2] / "shared" / "traces"
_TRACES = Path(os.environ.get("STEPSCOPE_TRACES", _BESIDE))

page = pytest.mark.skipif(not bundle.is_built(), reason=_NO_PAGE)


def is_here(name: str) -> bool:
    """Checked without importing it, which would change the tests' own process."""
    return importlib.util.find_spec(name) is not None


def package(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not is_here(name), reason=_not_installed(name))


def require(name: str) -> None:
    """The same from inside a test, or for all tests of a file."""
    if not is_here(name):
        pytest.skip(_not_installed(name), allow_module_level=True)


def module(name: str) -> Any:
    """The module, for tests that use it in their own process."""
    return pytest.importorskip(name, reason=_not_installed(name.partition(".")[0]))


def require_page() -> None:
    if not bundle.is_built():
        pytest.skip(_NO_PAGE)


def trace(name: str) -> Path:
    """A trace of a real device."""
    path = _TRACES / name
    if not path.exists():
        pytest.skip(f"{name} is not here: traces of real devices are not in the repository")
    return path


def _not_installed(name: str) -> str:
    return f"{name} is not installed for this Python"
