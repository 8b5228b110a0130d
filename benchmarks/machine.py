"""Where and when a benchmark ran."""

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path

from benchmarks.tools import PACKAGES


def processor() -> str:
    try:
        rows = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [row.partition(":")[2].strip() for row in rows if row.startswith("model name")]
    return names[0] if names else platform.machine()


def version_of(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def describe() -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "load_before": os.getloadavg()[0],
        "versions": {package: version for package in PACKAGES if (version := version_of(package))},
    }


def sentence(about: dict[str, object]) -> str:
    """When and where, for the top of a page."""
    return (
        f"{about['date']}, {about['processor']}, {about['cores']} cores, {about['system']}; "
        f"load before {about['load_before']:.1f}; Python {about['python']}"
    )
