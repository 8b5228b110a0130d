"""One recorded run for all tests of the exporters."""

from pathlib import Path

import pytest

from show.exporters.recorded import record


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a training was recorded to `run`."""
    return record(tmp_path_factory.mktemp("recorded"))
