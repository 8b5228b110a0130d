"""How and where a run was made: what the page says about it besides what was measured."""

import importlib.metadata
import os

from stepscope.model.page import Facts
from stepscope.store.reader import Run


def facts(run: Run) -> Facts:
    info, machine = run.info, run.info.machine
    return Facts(
        name=os.path.basename(os.path.abspath(run.path)),
        path=os.fspath(run.path),
        script=info.script,
        cwd=info.cwd,
        host=machine.host,
        system=machine.system,
        cpu=machine.cpu,
        cores=machine.container_cores or machine.cores,
        memory_bytes=machine.container_memory_bytes or machine.memory_bytes,
        versions=info.versions,
        git=info.git,
        options=info.options,
        stepscope=_version(),
        is_trace=run.is_trace,
    )


def _version() -> str:
    """Of what makes the page: the one that recorded the run may be older, or another tool."""
    try:
        return importlib.metadata.version("stepscope")
    except importlib.metadata.PackageNotFoundError:  # a folder of sources
        return ""
