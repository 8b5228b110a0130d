"""Measures what stepscope takes before the script's first line and after its last one, and writes
benchmarks/around.md: `python -m benchmarks.around`.

Before: CPU time of a process whose script does nothing, recorded, against the plain one, in turns.
After: from the moment at which a training of a minute ended until the prompt is back, with summary,
tables and report.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks import machine
from benchmarks.report import table
from stepscope.record.boot import environment_for
from stepscope.store.format import FORMAT_VERSION, RUN_FILE, SUPERVISOR_FILE

RESULTS = Path(__file__).parent / "around.md"
PROGRAMS = Path(__file__).parent / "programs"
TURNS = 25
ROUNDS = 3
MOST_MS = 25.0
MOST_S = 1.0
NOTHING = ("-c", "")
TRAININGS = ("torch_minute", "numpy_minute")

INTRODUCTION = """# Before the script begins and after it has ended

Made by `python -m benchmarks.around`; do not edit. Before: CPU time beyond that of a plain process
whose script does nothing, the difference of the quickest of {turns} turns. After: from the end of a
training of {seconds:g} s until the prompt is back, the median of {rounds}, and in brackets the
shortest and the longest; and the least CPU time before and after it, without that of its own exit,
which says more on a machine that others use too.
"""


class Used(NamedTuple):
    seconds: float
    cpu_s: float
    ended_s: float  # monotonic
    said: str


def ran(words: list[str], environment: Mapping[str, str]) -> Used:
    began = time.monotonic()
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{words} ended with {process.returncode}")
    ended = time.monotonic()
    return Used(ended - began, used.ru_utime + used.ru_stime, ended, said)


def compiled() -> dict[str, str]:
    """As users have it: what was imported once need not be compiled again."""
    return {name: each for name, each in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def before(folder: Path) -> dict[str, float]:
    """CPU ms beyond the plain process."""
    run = folder / "boot"
    run.mkdir()
    (run / RUN_FILE).write_text(json.dumps({"format": FORMAT_VERSION, "options": {}}))
    plain = compiled()
    kinds = {
        "plain": ([sys.executable, *NOTHING], plain),
        "`import stepscope`": ([sys.executable, "-c", "import stepscope"], plain),
        "boot of a recorded process": (
            [sys.executable, *NOTHING],
            environment_for(str(run), plain),
        ),
    }
    best = dict.fromkeys(kinds, float("inf"))
    for _ in range(TURNS):
        for kind, (words, environment) in kinds.items():
            best[kind] = min(best[kind], 1e3 * ran(words, environment).cpu_s)
    return {kind: each - best["plain"] for kind, each in best.items() if kind != "plain"}


def after(folder: Path, training: str, seconds: float) -> tuple[list[float], float]:
    """Seconds from the end of the script to the prompt, and the least CPU time that is ours."""
    found, cpu_s = [], []
    program = str(PROGRAMS / f"{training}.py")
    alone = ran([sys.executable, program, "1"], compiled())
    own_exit_s = alone.cpu_s - float(alone.said)  # torch takes up to a second to end
    for _ in range(ROUNDS):
        run = folder / training
        shutil.rmtree(run, ignore_errors=True)
        words = [sys.executable, "-m", "stepscope", "run", "-o", str(run)]
        used = ran([*words, program, str(seconds)], compiled())
        ended_ns = json.loads((run / SUPERVISOR_FILE).read_text())["ended_monotonic_ns"]
        found.append(used.ended_s - ended_ns / 1e9)
        cpu_s.append(used.cpu_s - float(used.said) - own_exit_s)
    return found, min(cpu_s)


def rows(folder: Path, seconds: float) -> list[list[str]]:
    made = [
        [what, f"under {MOST_MS:g} ms", f"{ms:.1f} ms of CPU", "yes" if ms < MOST_MS else "**no**"]
        for what, ms in before(folder).items()
    ]
    for training in TRAININGS:
        times, cpu_s = after(folder, training, seconds)
        median = statistics.median(times)
        made.append(
            [
                f"after `{training}.py`",
                f"under {MOST_S:g} s",
                f"{median:.2f} s ({min(times):.2f}–{max(times):.2f}), {cpu_s:.2f} s of CPU",
                "yes" if median < MOST_S else "**no**",
            ]
        )
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="of each training")
    seconds = parser.parse_args().seconds
    about = machine.sentence(machine.describe())
    with tempfile.TemporaryDirectory() as folder:
        found = table(["what", "limit", "measured", "holds"], rows(Path(folder), seconds))
    words = INTRODUCTION.format(turns=TURNS, rounds=ROUNDS, seconds=seconds)
    RESULTS.write_text(f"{words}\n{about}\n\n{found}\n")


if __name__ == "__main__":
    main()
