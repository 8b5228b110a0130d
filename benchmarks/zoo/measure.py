"""Runs a script: plain, for its own step times, and recorded, for its findings."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from benchmarks.run import ONE_THREAD
from benchmarks.zoo.specimens import Specimen

LIMIT_S = 240
SETTLING = 0.2  # the share of the first steps that does not count


class Failed(Exception):
    """A command of the zoo ended with an error."""


class Location(msgspec.Struct, frozen=True):
    file: str | None = None
    line: int | None = None
    function: str | None = None


class Speedup(msgspec.Struct, frozen=True):
    expected: float
    low: float
    high: float | None  # None: without an upper end


class Finding(msgspec.Struct, frozen=True):
    """What the zoo reads from one finding."""

    id: str
    title: str
    location: Location | None = None
    speedup: Speedup | None = None


class Findings(msgspec.Struct, frozen=True):
    verdict: str
    findings: list[Finding]


class Round(msgspec.Struct, frozen=True):
    """The mean step of a plain run with the fault and of one without, one after the other."""

    faulty_s: float
    fixed_s: float

    @property
    def ratio(self) -> float:
        return self.faulty_s / self.fixed_s


class Gain(msgspec.Struct, frozen=True):
    """How many times as long a step takes with the fault."""

    rounds: list[Round]

    @property
    def ratio(self) -> float:
        """Of the quietest runs: other work on the machine can only add time."""
        return self.step_ms / 1e3 / min(each.fixed_s for each in self.rounds)

    @property
    def low(self) -> float:
        return min(each.ratio for each in self.rounds)

    @property
    def high(self) -> float:
        return max(each.ratio for each in self.rounds)

    @property
    def step_ms(self) -> float:
        """With the fault."""
        return min(each.faulty_s for each in self.rounds) * 1e3


def call(command: list[str], folder: Path, limit_s: float = LIMIT_S, **environment: str) -> str:
    """The command's output; it runs in `folder`, and must succeed."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **ONE_THREAD, "STEPSCOPE_REPORT": "off", **environment},
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(str(error)) from error
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-3:]
        raise Failed(f"{' '.join(command)} ended with {done.returncode}: {' / '.join(last)}")
    return done.stdout


def settled_steps(times_s: list[float]) -> list[float]:
    return times_s[int(len(times_s) * SETTLING) :]


def mean_step_s(specimen: Specimen, *options: str) -> float:
    """Of the settled steps of a run without stepscope, as the script timed them."""
    with tempfile.TemporaryDirectory() as name:
        times = Path(name) / "times.json"
        call([sys.executable, str(specimen.path), *options], Path(name), ZOO_TIMES=str(times))
        return statistics.mean(settled_steps(json.loads(times.read_text())))


def measured_round(specimen: Specimen) -> Round:
    """Faulty and fixed alternate, so that both run under the same conditions."""
    return Round(mean_step_s(specimen), mean_step_s(specimen, "--fixed"))


def record(specimen: Specimen, run: Path) -> None:
    command = [sys.executable, "-m", "stepscope", "run", "--quiet", "--force", "-o", str(run)]
    with tempfile.TemporaryDirectory() as folder:
        call([*command, str(specimen.path)], Path(folder))


def findings(run: Path) -> Findings:
    command = [sys.executable, "-m", "stepscope", "show", str(run), "findings", "--json"]
    return msgspec.json.decode(call(command, run.parent), type=Findings)
