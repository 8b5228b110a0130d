"""Runs every program under every tool, interleaved, and writes the times of this Python.

Whole processes: each tool starts the program as a user would, and the program times itself, so
that start-up and writing results do not count. `python -m benchmarks.run`
"""

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import calls, inside, machine, sampler
from benchmarks.inside import Times
from benchmarks.ratios import turns
from benchmarks.tools import ALL_TOOLS, CONTROL, FRAMEWORK_TOOLS, TOOLS, Command

FOLDER = Path(__file__).parent
OUT = FOLDER / "out"
LIMIT_S = 300  # Scalene takes ten times as long on operators
TRIES = 4  # and crashes in every second run of them (SIGSEGV)

# Maps a program to its number of rounds with all tools.
PROGRAMS = {
    "tight_loop": 3,
    "settled_loop": 2,
    "calls_library": 3,
    "recursion": 3,
    "generator": 3,
    "numpy_steps": 5,
    "torch_cnn": 5,
    "keras_fit": 5,
    "jax_update": 3,
}
# Rounds of stepscope alone against plain, to resolve one hundredth.
CLOSE = {"numpy_steps": 30, "torch_cnn": 30, "keras_fit": 20, "jax_update": 20}
CLOSE_TOOLS = ("plain", CONTROL, "stepscope")
NEEDS = {"torch_cnn": "torch", "keras_fit": "keras", "jax_update": "jax"}
PARTS = ("whole", "close", "inside", "calls", "sampler")

CLOCKS = ("wall_s", "cpu_s")

# On few cores, more compute threads measure the scheduler.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def environment(times: Path) -> dict[str, str]:
    return {**os.environ, **ONE_THREAD, "BENCH_TIMES": str(times), "STEPSCOPE_REPORT": "off"}


def has_recorded(folder: Path) -> bool:
    """A stepscope run that did not record to its end would look cheap."""
    if not (folder / "run").exists():
        return True  # another tool
    processes = [json.loads(path.read_text()) for path in folder.glob("run/proc-*/process.json")]
    return any(process["status"] == "ended" for process in processes)


def once(command: Command, program: Path) -> dict[str, float] | None:
    """Mean seconds of the program's rounds under this tool, by clock; None if the tool failed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        times = folder / "times.json"
        run = subprocess.run(
            command(program, folder),
            env=environment(times),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        if not times.exists() or not has_recorded(folder):
            print(f"  failed: {' '.join(run.args)}\n{run.stderr[-500:]}", file=sys.stderr)
            return None
        measured = json.loads(times.read_text())
        return {clock: statistics.mean(measured[clock]) for clock in CLOCKS}


def in_the_end(command: Command, program: Path) -> dict[str, float] | None:
    """For tools that fail now and then: the first try that succeeds."""
    tries = (once(command, program) for _ in range(TRIES))
    return next((seconds for seconds in tries if seconds is not None), None)


def compare(program: str, rounds: int, tools: dict[str, Command]) -> Times:
    """A round runs each tool once; the first round warms the caches and is left out."""
    times: Times = {clock: {name: [] for name in tools} for clock in CLOCKS}
    failed: set[str] = set()
    for number, order in enumerate(turns(list(tools), rounds + 1)):
        for name in [name for name in order if name not in failed]:
            seconds = in_the_end(tools[name], FOLDER / f"programs/{program}.py")
            if seconds is None:
                failed.add(name)
            elif number > 0:
                for clock in CLOCKS:
                    times[clock][name].append(seconds[clock])
    for clock in CLOCKS:
        for name in failed:
            del times[clock][name]
    return times


def is_here(program: str) -> bool:
    """Whether this Python has what the program needs."""
    return program not in NEEDS or importlib.util.find_spec(NEEDS[program]) is not None


def tools_for(program: str, names: Sequence[str]) -> dict[str, Command]:
    known = {**TOOLS, **FRAMEWORK_TOOLS.get(NEEDS.get(program, ""), {})}
    return {name: tool for name, tool in known.items() if name in names}


def measured_before(saved: Path) -> dict[str, Any]:
    """If only a part is asked for, the others keep their figures."""
    if not saved.exists():
        return {}
    before: dict[str, Any] = json.loads(saved.read_text())
    return before


def compare_whole(programs: list[str], tools: list[str], rounds: int | None) -> dict[str, Times]:
    measured = {}
    for program in programs:
        print(f"Python {platform.python_version()}: {program}", file=sys.stderr)
        chosen = tools_for(program, tools)
        measured[program] = compare(program, rounds or PROGRAMS[program], chosen)
    return measured


def compare_close(programs: list[str], rounds: int | None) -> dict[str, Times]:
    return {
        program: compare(program, rounds or CLOSE[program], tools_for(program, CLOSE_TOOLS))
        for program in programs
        if program in CLOSE
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=PARTS)
    parser.add_argument("--programs", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--tools", nargs="*", default=list(ALL_TOOLS))
    parser.add_argument("--rounds", type=int, help="instead of each program's own number")
    asked = parser.parse_args()
    os.environ.update(ONE_THREAD)  # before NumPy is loaded here
    programs = [program for program in asked.programs if is_here(program)]
    measure: dict[str, Callable[[], dict[str, Times]]] = {
        "whole": lambda: compare_whole(programs, asked.tools, asked.rounds),
        "close": lambda: compare_close(programs, asked.rounds),
        "inside": lambda: inside.compare_all(asked.rounds or inside.ROUNDS),
        "calls": lambda: calls.compare_all(asked.rounds or calls.ROUNDS),
        "sampler": lambda: sampler.compare_all(asked.rounds or sampler.ROUNDS),
    }
    version = ".".join(platform.python_version_tuple()[:2])
    saved = OUT / f"{version}.json"
    result = {**measured_before(saved), "machine": machine.describe()}
    for part in asked.parts:
        result[part] = {**result.get(part, {}), **measure[part]()}
    OUT.mkdir(exist_ok=True)
    saved.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
