"""Records the same scripts again and again, and keeps how long their steps took.

`python -m benchmarks.same_runs --condition quiet --runs 6` adds runs to
tests/compare/recorded_noise.npz, on which the constants of stepscope/compare/statistics/run_mean.py
were chosen, and prints how far equal runs differ. Needs torch.

The conditions: `quiet` goes before other processes (if the system allows that: it takes root),
`shared` takes the machine as it is, `busy` runs beside two processes that only count. The runs of
one call, a script in turns with the others, belong to one moment: only they are under the same
condition.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.recorded_noise import KEPT, Recorded, read, write
from stepscope.analyze.run import load, select
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.clock import Ints

PROGRAMS = Path(__file__).parent / "programs"
SCRIPTS = ("numpy_steps", "torch_cnn", "torch_loader")
CONDITIONS = ("quiet", "shared", "busy")
STEPS = 320  # recorded; without the first, which warm up, there are 300
MOST_KEPT = 300
BUSY = 2
# One thread: more than one on cores that others use too wait for each other most of the time.
ENVIRONMENT = {"BENCH_TIMES": os.devnull, "STEPSCOPE_REPORT": "off", "OMP_NUM_THREADS": "1"}
PRECEDENCE = -15  # niceness of a quiet run


def recorded_us(script: str, condition: str) -> Ints:
    """The measured steps of one run, in µs."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        options = ["--quiet", "--ops", "off", "--steps", str(STEPS), "-o", str(run)]
        subprocess.run(
            [sys.executable, "-m", "stepscope", "run", *options, str(PROGRAMS / f"{script}.py")],
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,
            preexec_fn=go_first if condition == "quiet" else None,
            check=True,
        )
        opened = load(str(run))
        found = find_steps(opened, select(opened))
    us: Ints = found.duration_ns[found.is_measured][:MOST_KEPT] // 1000
    return us


def go_first() -> None:
    """Niceness weighs processes within a session, and that of its autogroup weighs sessions."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, PRECEDENCE)
        Path("/proc/self/autogroup").write_text(str(PRECEDENCE))


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    counting = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in counting:
            process.kill()
            process.wait()


def record(condition: str, runs: int, moment: int) -> Iterator[Recorded]:
    for _ in range(runs):
        for script in SCRIPTS:
            us = recorded_us(script, condition)
            print(f"{script:<14}{condition:<8}{len(us):>5} steps of {us.mean() / 1e3:.3f} ms")
            yield Recorded(script, condition, moment, us)


def run_to_run(runs: list[Recorded]) -> float:
    """The relative standard deviation of the mean step between these runs."""
    return float(np.std([np.log(run.us.mean()) for run in runs], ddof=1))


def report(kept: list[Recorded]) -> None:
    same: dict[tuple[str, str, int], list[Recorded]] = {}
    for run in kept:
        same.setdefault((run.script, run.condition, run.moment), []).append(run)
    for (script, condition, moment), runs in same.items():
        if len(runs) > 1:
            print(
                f"{script:<14}{condition:<8}moment {moment}: {len(runs)} runs differ by "
                f"{run_to_run(runs):.1%}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--condition", choices=CONDITIONS, default="shared")
    parser.add_argument("--runs", type=int, default=6)
    chosen = parser.parse_args()
    kept = read() if KEPT.exists() else []
    moment = max((run.moment for run in kept), default=-1) + 1
    with busy_processes(BUSY if chosen.condition == "busy" else 0):
        kept += record(chosen.condition, chosen.runs, moment)
    write(kept)
    report(kept)


if __name__ == "__main__":
    main()
