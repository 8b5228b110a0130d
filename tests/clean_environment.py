"""The environment of processes that tests start: what pytest was started with is not theirs."""

import os
from collections.abc import Mapping

_NOT_PASSED_ON = (
    "PYTHONPATH",
    "PYTHONWARNINGS",
    "RANK",
    "WORLD_SIZE",
    "SLURM_PROCID",
    "PYTEST_CURRENT_TEST",
)
_PASSED_ON = "STEPSCOPE_REPORT"  # off: hundreds of runs whose report nobody looks at


def environment(extra: Mapping[str, str] = {}) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _NOT_PASSED_ON
        and (name == _PASSED_ON or not name.startswith(("STEPSCOPE_", "COV_")))
    }
    return {**kept, "PYTHONHASHSEED": "0", **extra}
