"""A recording with only its files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope.native import _core


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    _core.storage_open(str(tmp_path), 64 * 2**20)
    yield tmp_path
    _core.storage_close()
