"""One question about one large trace, asked of `stepscope` and of HTA: CPU time and memory, as rows
of benchmarks/trace_files.md.

HTA may take minutes and gigabytes: it is given a limit of CPU time, and what it has used when it
stops there, or when the system stops it for lack of memory, is what it takes at least.
"""

import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.analysis import MB, Answered, stepscope
from benchmarks.made_traces import make
from benchmarks.same_as_hta import python_of

_PROGRAM: Final = Path(__file__).parent / "programs" / "hta_summary.py"
_LEAST_TIMES: Final = {"CPU time": 25, "memory": 9}  # what HTA takes, as a multiple of ours
_STOPPED: Final = (signal.SIGXCPU, signal.SIGKILL)  # by our limit; by the system
Row = list[str]


class Asked(NamedTuple):
    """What a program took until its end, or until it was stopped."""

    took: Answered
    is_whole: bool


def rows(folder: Path, count: int, environment: Path, limit_s: int) -> list[Row]:
    """One after the other, and ours again: a busy machine slows both."""
    path = make(folder / "beside.json.gz", count)
    python = str(python_of(environment))
    ours = stepscope("show", str(path))
    theirs = asked([python, "-W", "ignore", str(_PROGRAM), str(path)], limit_s)
    again = stepscope("show", str(path))
    mean = Answered(0.0, (ours.cpu_s + again.cpu_s) / 2, max(ours.peak_bytes, again.peak_bytes))
    return compared(count, mean, theirs)


def asked(command: Sequence[str], limit_s: int) -> Asked:
    """CPU time and memory, as the system counted them. Raises if it failed by itself."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limited
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        if process.returncode and -process.returncode not in _STOPPED:
            said = errors.read().decode(errors="replace")
            raise RuntimeError(f"{command[0]} ended with {process.returncode}: {said}")
    took = Answered(0.0, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
    return Asked(took, is_whole=not process.returncode)


def compared(count: int, ours: Answered, theirs: Asked) -> list[Row]:
    least = "" if theirs.is_whole else "over "
    found = []
    for what, mine, other, unit in (
        ("CPU time", ours.cpu_s, theirs.took.cpu_s, "s"),
        ("memory", ours.peak_bytes / MB, theirs.took.peak_bytes / MB, "MB"),
    ):
        times = other / mine
        figures = [
            f"{mine:,.1f} {unit}",
            f"{least}{other:,.1f} {unit}",
            f"{least}{times:.1f} times",
        ]
        verdict = _verdict(times >= _LEAST_TIMES[what], theirs.is_whole)
        found.append([f"{count:,}", what, *figures, f"{_LEAST_TIMES[what]} times", verdict])
    return found


def _verdict(is_enough: bool, is_whole: bool) -> str:
    if is_enough:
        return "yes"
    return "**no**" if is_whole else "not known: HTA was stopped"
