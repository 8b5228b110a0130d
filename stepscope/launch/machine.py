"""Facts about the machine, the software and the source tree, for run.json."""

import importlib.metadata
import os
import platform
import socket
import subprocess
from typing import Any, Final

from stepscope.frameworks.table import packages
from stepscope.launch.containers import container_limits

_GIT_PATIENCE_S: Final = 2.0

# The packages whose versions are recorded, if they are installed.
_PACKAGES: Final = (
    "stepscope", "numpy", "scipy", *packages(), "accelerate", "scikit-learn", "numba", "polars",
    "pandas",
)  # fmt: skip


# Vectors and matrix units: of Intel and AMD, and of ARM.
_FEATURES: Final = ("avx", "amx", "fma", "asimd", "sve", "sme", "bf16", "i8mm")


def machine_facts() -> dict[str, Any]:
    limits = container_limits()
    return {
        "host": socket.gethostname(),
        "system": platform.platform(),
        "cpu": _cpu_name(),
        "cpu_features": _cpu_features(),
        "cores": available_cores(),
        "memory_bytes": _memory_bytes(),
        "container_memory_bytes": limits.memory_bytes,
        "container_cores": limits.cores,
    }


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def git_state(folder: str) -> dict[str, Any] | None:
    """{"commit", "dirty"}; dirty is null when git did not answer in time. None without git."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return None
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def _git(folder: str, *arguments: str) -> str | None:
    # Optional locks off: this must not block the user's own git.
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        answer = subprocess.run(
            ["git", "-C", folder, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_PATIENCE_S,
            env=environment,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.decode(errors="replace").strip()


def _cpu_name() -> str | None:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            rows = [line for line in file if line.startswith("model name")]
    except OSError:
        return platform.processor() or None
    return rows[0].partition(":")[2].strip() if rows else platform.machine()


def _cpu_features() -> list[str] | None:
    """Those that decide how fast numbers are computed; None where the system does not say."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            rows = [line for line in file if line.startswith(("flags", "Features"))]
    except OSError:
        return None
    known = rows[0].partition(":")[2].split() if rows else None
    return [each for each in known if each.startswith(_FEATURES)] if known else None


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return None
