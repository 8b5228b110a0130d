"""What a container or batch system allows this process: control groups, both versions."""

import os
from typing import Final, NamedTuple

_V2: Final = "/sys/fs/cgroup"
_V1_MEMORY: Final = "/sys/fs/cgroup/memory"
_V1_CPU: Final = "/sys/fs/cgroup/cpu"
_NO_LIMIT_BYTES: Final = 1 << 60  # version 1 writes a huge number when there is no limit


class Limits(NamedTuple):
    memory_bytes: int | None
    cores: float | None


def container_limits() -> Limits:
    """The tightest limit of our group and the groups above it."""
    memory = [
        limit
        for folder in _group_folders("memory")
        for name in ("memory.max", "memory.limit_in_bytes")
        if (limit := _number(os.path.join(folder, name))) is not None and limit < _NO_LIMIT_BYTES
    ]
    quotas = [quota for folder in _group_folders("cpu") if (quota := _cores(folder)) is not None]
    return Limits(min(memory, default=None), min(quotas, default=None))


def container_memory_used() -> int | None:
    """The use of our own group, which the limit applies to."""
    for folder in _group_folders("memory"):
        for name in ("memory.current", "memory.usage_in_bytes"):
            used = _number(os.path.join(folder, name))
            if used is not None:
                return used
    return None


def container_cpu_used_ns() -> int | None:
    """The CPU time of the group with the tightest limit of cores; None without a limit."""
    limited = [
        (quota, folder) for folder in _group_folders("cpu") if (quota := _cores(folder)) is not None
    ]
    return _cpu_used_ns(min(limited)[1]) if limited else None


def _cpu_used_ns(folder: str) -> int | None:
    """Version 2 has it in µs among other figures, version 1 in a file of its own."""
    rows = [row.split() for row in (_text(os.path.join(folder, "cpu.stat")) or "").splitlines()]
    used_us = [int(row[1]) for row in rows if row[0] == "usage_usec"]
    return used_us[0] * 1000 if used_us else _number(os.path.join(folder, "cpuacct.usage"))


def _group_folders(controller: str) -> list[str]:
    """Folders of our control group and those above it, innermost first."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return []
    v1 = [path for _, names, path in rows if controller in names.split(",")]
    v2 = [path for number, names, path in rows if number == "0" and not names]
    root = {"memory": _V1_MEMORY, "cpu": _V1_CPU}[controller] if v1 else _V2
    return [os.path.normpath(root + path) for path in _upwards((v1 or v2 or ["/"])[0])]


def _upwards(path: str) -> list[str]:
    """/a/b, /a, /"""
    paths = [path]
    while path not in ("/", ""):
        path = os.path.dirname(path)
        paths.append(path)
    return paths


def _cores(folder: str) -> float | None:
    words = _text(os.path.join(folder, "cpu.max"))
    if words is not None:
        quota, _, period = words.partition(" ")
        return None if quota == "max" else int(quota) / int(period)
    quota_us = _number(os.path.join(folder, "cpu.cfs_quota_us"))
    period_us = _number(os.path.join(folder, "cpu.cfs_period_us"))
    return quota_us / period_us if quota_us and period_us and quota_us > 0 else None


def _number(path: str) -> int | None:
    text = _text(path)
    return int(text) if text is not None and text.lstrip("-").isdigit() else None


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None
