"""Compares the figures of `show TRACE device` with those of HolisticTraceAnalysis, live.

    python -m benchmarks.same_as_hta TRACE... [--environment FOLDER]

1. HTA gets an environment of its own, which is made if it is not there.
2. It reads the trace with its last step and without rounding to microseconds.
3. Each figure of both is printed, and the exit status says whether all are equal.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, Final

from stepscope.analyze.operators.device import device
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.model.ops import DeviceRow

_PROGRAM: Final = Path(__file__).parent / "programs" / "hta_figures.py"
ENVIRONMENT: Final = Path(__file__).parent / "out" / "hta"
_PACKAGES: Final = ("HolisticTraceAnalysis==0.5.0", "pandas<3")
_NEAR_US: Final = 0.5  # HTA adds floats that hold every quarter of a microsecond
_NEAR_PERCENT: Final = 0.01  # HTA rounds to that

Figures = dict[str, float]


def python_of(folder: Path) -> Path:
    """The environment's Python, with HTA."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    found = subprocess.run([python, "-c", "import hta"], capture_output=True, check=False)
    if found.returncode:
        subprocess.run([python, "-m", "pip", "install", "-qq", *_PACKAGES], check=True)
    return python


def figures_of_hta(python: Path, trace: Path) -> Figures:
    env = {**os.environ, "HTA_DISABLE_NS_ROUNDING": "1"}
    command = [str(python), "-W", "ignore", str(_PROGRAM), str(trace.resolve())]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    for stream, kind, us in said.pop("streams"):
        said[f"stream {stream} {kind}"] = us
    return said


def figures_of_ours(trace: Path) -> Figures:
    """Of the only device, in HTA's words and units."""
    (row,) = device(run_of_trace(trace)).ranks
    figures = {
        "wall": row.wall_ns / 1e3,
        "idle": row.idle_ns / 1e3,
        "compute": row.compute_ns / 1e3,
        "overlap_percent": _overlap_percent(row),
    }
    for stream in row.streams:
        for kind in ("host_wait", "kernel_wait", "other"):
            ns = getattr(stream.idle, f"{kind}_ns")
            figures[f"stream {stream.stream} {kind}"] = ns / 1e3
    return figures


def _overlap_percent(row: DeviceRow) -> float:
    hidden_ns = row.communication_ns - row.exposed_communication_ns
    return 100 * hidden_ns / row.communication_ns if row.communication_ns else float("nan")


def differences(theirs: Figures, ours: Figures) -> dict[str, tuple[float, float]]:
    """HTA leaves out what is 0."""
    pairs = {name: (theirs.get(name, 0.0), ours.get(name, 0.0)) for name in {**theirs, **ours}}
    return {name: pair for name, pair in pairs.items() if not _is_same(name, *pair)}


def _is_same(name: str, theirs: float, ours: float) -> bool:
    if theirs != theirs and ours != ours:  # no communication: nothing to divide by
        return True
    return abs(theirs - ours) <= (_NEAR_PERCENT if "percent" in name else _NEAR_US)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--environment", type=Path, default=ENVIRONMENT)
    given = parser.parse_args()
    python, is_same = python_of(given.environment), True
    for trace in given.traces:
        theirs, ours = figures_of_hta(python, trace), figures_of_ours(trace)
        different = differences(theirs, ours)
        is_same &= not different
        print(f"{trace.name}: {len(ours) - len(different)} of {len(ours)} figures are equal")
        for name in ours:
            mark = " <-- differs" if name in different else ""
            print(f"  {name:24} HTA {theirs.get(name, 0):14.2f}  ours {ours[name]:14.2f}{mark}")
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
