"""Which cases of a test run by day; the others take their time at night."""

from collections.abc import Iterable
from typing import Any

import pytest


def nightly_but(kept: Iterable[Any], names: Iterable[Any]) -> list[Any]:
    """The names as parameters; those that are not kept take their time at night."""
    wanted = set(kept)
    return [
        name if name in wanted else pytest.param(name, marks=pytest.mark.nightly) for name in names
    ]
