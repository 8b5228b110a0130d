"""Interpreters of our own beside a recorded one: the same environment, and nothing is recorded."""

import os
from collections.abc import Mapping

from stepscope.typed import Final

# What recording puts there; `record/boot.py` says what each is for.
VARIABLES: Final = tuple(
    f"STEPSCOPE_{name}"
    for name in ("RUN", "HOME", "SUPERVISOR", "MAIN", "RANK", "COLLECT_INTO", "TRIAL")
)
SHIM: Final = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "record", "shim"
)


def unrecorded(before: Mapping[str, str]) -> dict[str, str]:
    environment = {key: value for key, value in before.items() if key not in VARIABLES}
    path = environment.pop("PYTHONPATH", "").split(os.pathsep)
    # An empty entry would mean the current folder: do not leave one alone.
    kept = [entry for entry in path if entry != SHIM]
    if any(kept):
        environment["PYTHONPATH"] = os.pathsep.join(kept)
    return environment
