"""What has to be known about each trace before several make one run: whose it is, from when to when
it lasts, and when its collectives end.

Several large files are read at the same time, each in a process of its own that hands back no more
than that. A process of ours and not multiprocessing's: that runs the user's script again, unless it
was written for it.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.analyze.traces.collective_calls import collective_ends
from stepscope.analyze.traces.devices import told_rank
from stepscope.analyze.traces.windows import read_trace
from stepscope.importers.trace import Category, Trace

_LARGE_BYTES: Final = 8 * 2**20  # in all: below, starting Python costs more than reading
_RANK: Final = re.compile(r"rank[-_.]?(\d{1,6})(?!\d)", re.IGNORECASE)
_MOST_NS: Final = 2**62


class Survey(msgspec.Struct, frozen=True):
    rank: int | None = None
    pid: int = 0
    start_ns: int = 0
    end_ns: int = 0
    collectives: dict[str, int] = {}  # when each ended
    notes: list[str] = []
    trouble: str | None = None  # why nothing can be read


def survey(path: Path) -> Survey:
    trace = read_trace(path)
    if isinstance(trace, str):
        return Survey(trouble=trace)
    start_ns, end_ns = _from_when_to_when(trace)
    return Survey(
        rank=rank_of(path, trace.head),
        pid=_pid(trace),
        start_ns=start_ns,
        end_ns=end_ns,
        collectives=collective_ends(trace),
        notes=trace.notes,
    )


def rank_of(path: Path, head: dict[str, Any]) -> int | None:
    """As the trace says, else as its name does."""
    rank = told_rank(head)
    if rank is not None:
        return rank
    named = _RANK.search(path.name)
    return int(named[1]) if named else None


def _from_when_to_when(trace: Trace) -> tuple[int, int]:
    starts = [trace.events["start_ns"], trace.memory["at_ns"]]
    ends = [trace.events["start_ns"] + trace.events["duration_ns"], trace.memory["at_ns"]]
    if not sum(map(len, starts)):
        return 0, 0
    first, last = int(np.concatenate(starts).min()), int(np.concatenate(ends).max())
    return min(max(0, first), _MOST_NS), min(max(0, last), _MOST_NS)


def _pid(trace: Trace) -> int:
    """The process with the most on the host, where the trace has its number."""
    events: npt.NDArray[Any] = trace.of(Category.OP, Category.ANNOTATION, Category.PYTHON)
    counts = np.bincount(events["thread"], minlength=1)
    for number in np.argsort(-counts).tolist():
        process = trace.threads[number].process if number < len(trace.threads) else ""
        if process.isdecimal() and len(process) < 10:
            return int(process)
    return 0


# --- several --------------------------------------------------------------------------------------


def survey_all(paths: Sequence[Path]) -> list[Survey]:
    if len(paths) < 2 or sum(map(_size, paths)) < _LARGE_BYTES or not sys.executable:
        return [survey(path) for path in paths]
    with concurrent.futures.ThreadPoolExecutor(min(len(paths), _cores())) as pool:
        return list(pool.map(_elsewhere, paths))


def _elsewhere(path: Path) -> Survey:
    """By another Python; if that fails, here."""
    command = [sys.executable, "-m", __name__, os.fspath(path.absolute())]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=_environment()
    )
    try:
        return msgspec.json.decode(done.stdout, type=Survey)
    except msgspec.DecodeError:
        return survey(path)


def _environment() -> dict[str, str]:
    """With our own path: a script may have changed its own."""
    package = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    return os.environ | {"PYTHONPATH": path}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(survey(Path(sys.argv[1]))))
