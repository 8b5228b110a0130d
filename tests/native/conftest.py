"""The core's own tests begin with an empty core."""

import pytest

from stepscope.native import _core
from stepscope.record.code_table import table


@pytest.fixture(scope="module", autouse=True)
def _nothing_recorded_before() -> None:
    """Other tests of this process record their own functions, which would be found again here."""
    for entry in list(table.entries):
        table.forget(entry.code)
    _core.storage_close()
