"""The content of run.json: what was started, on which machine, with which options."""

import os
import time
from collections.abc import Sequence
from typing import Any

from stepscope.launch.machine import git_state, machine_facts, versions
from stepscope.launch.secrets import mask_command
from stepscope.store.format import FORMAT_VERSION


def describe_run(
    command: Sequence[str],
    script: str | None,
    options: dict[str, Any],
    launcher: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The fields that store.format lists."""
    beside = os.path.dirname(os.path.abspath(script)) if script else os.getcwd()
    return {
        "format": FORMAT_VERSION,
        "command": mask_command(command),
        "cwd": os.getcwd(),
        "script": script,
        "started_realtime_ns": time.time_ns(),
        "machine": machine_facts(),
        "versions": versions(),
        "git": git_state(beside),
        "options": options,
        "launcher": launcher,
    }
