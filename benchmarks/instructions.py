"""Machine instructions that recording adds, counted by callgrind: the same on a busy machine.

    python -m benchmarks.instructions                    all on this Python; instructions.md
    python -m benchmarks.instructions thinned method     one part, one program

A child runs its work between two marks, and callgrind counts its main thread between them.
`make instructions` does all on every Python.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.inside import PROGRAMS, REGISTERED, SIDES, load
from stepscope.native import _core
from stepscope.record.boot import environment_for

ROOT: Final = Path(__file__).parent.parent
OUT: Final = Path(__file__).parent / "out"
PAGE: Final = Path(__file__).parent / "instructions.md"
INTRODUCTION: Final = """# What recording costs, in machine instructions

Made by `make instructions`; do not edit. callgrind counts the instructions of the main thread, so
these figures are nearly the same on a busy machine: two runs differ by about 1 %. They say nothing
about how long an instruction takes: reading the CPU's counter is one, and half of a line event's
time. [results.md](results.md) has times.
"""
# The C library's function behind os.getloadavg: nothing else calls it, and every libc exports it.
MARK: Final = "getloadavg"
SETTLE_S: Final = 9.0  # under callgrind; the first 2 s of a recording are always exact

Work = Callable[[], object]


class Part(NamedTuple):
    """What is compared: on which programs, and by whom."""

    programs: dict[str, int]  # events in one piece of work, as a user would count them
    sides: tuple[str, ...]  # the first is without a profiler, the last is the one to beat
    what: str


PARTS: Final = {
    "thinned": Part(
        dict.fromkeys(
            ("method", "property", "branches", "lambda", "generator", "comprehension", "map"),
            20_000,
        ),
        ("plain", "stepscope"),
        "call of a short function whose lines are thinned out, with the turn of the loop around it",
    ),
    "lines": Part(
        {"tight_loop": 60_000},
        ("plain", "stepscope", "line_profiler"),
        "line of a tight loop, exact",
    ),
    "profile": Part(
        {"builtins_mix": 30_000, "recursion": 57_313},
        ("plain", "stepscope", "cProfile"),
        "turn of the loop (`builtins_mix`) or call (`recursion`), exact",
    ),
}


# --- in the child ---------------------------------------------------------------------------------


def thinned_work(side: str, program: str, _events: int) -> Work:
    if side == "stepscope" and not _core.storage_is_open():
        raise RuntimeError("nothing is recorded here: that would compare plain runs")
    kind = load("short_calls").KINDS[program]
    settled = time.monotonic() + SETTLE_S
    while time.monotonic() < settled:
        kind(2_000)
    # Samples are taken by the clock: under callgrind there are fifty times as many of them.
    _core.heartbeat_pause()
    return lambda: kind(20_000)


def lines_work(side: str, program: str, events: int) -> Work:
    module = load(program)
    make = SIDES[side]
    if make:
        profiler = make()
        profiler.add_function(getattr(module, REGISTERED[program]))
        profiler.enable_by_count()
    return lambda: module.work(events // 3)


def profile_work(side: str, program: str, _events: int) -> Work:
    import cProfile

    import stepscope

    module = load(program)
    watch: Any = {
        "plain": nullcontext,
        "stepscope": stepscope.Profile,
        "cProfile": cProfile.Profile,
    }

    def work() -> None:
        with watch[side]():
            module.work()

    return work


WORK: Final = {"thinned": thinned_work, "lines": lines_work, "profile": profile_work}


def run_between_marks(part: str, side: str, program: str) -> None:
    """The first round warms up: the interpreter specialises, caches fill."""
    work = WORK[part](side, program, PARTS[part].programs[program])
    work()
    os.getloadavg()
    work()
    os.getloadavg()
    os._exit(0)  # callgrind has counted


# --- outside --------------------------------------------------------------------------------------


def recorded(folder: Path) -> dict[str, str]:
    """What `stepscope run` gives to its child."""
    run = folder / "run"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"options": {"include": [f"{PROGRAMS}/*"]}}))
    return environment_for(str(run), os.environ)


def instructions(part: str, side: str, program: str) -> int:
    """Of the main thread, between the marks."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        records = part == "thinned" and side == "stepscope"
        environment = recorded(folder) if records else dict(os.environ)
        command = [
            *("valgrind", "--quiet", "--tool=callgrind", f"--dump-before={MARK}"),
            *("--separate-threads=yes", f"--callgrind-out-file={folder}/counts"),
            *(sys.executable, "-m", "benchmarks.instructions", "--between-marks", side),
            *(part, program),
        ]
        subprocess.run(command, cwd=ROOT, check=True, env={**environment, "PYTHONHASHSEED": "0"})
        return counted_in(folder / "counts.2-01")


def counted_in(dump: Path) -> int:
    found = re.search(r"^totals: (\d+)", dump.read_text(), re.M)
    if not found:
        raise RuntimeError(f"{dump} has no totals: callgrind counted nothing between the marks")
    return int(found[1])


def compare(part: str, program: str) -> str:
    described = PARTS[part]
    events = described.programs[program]
    counts = {side: instructions(part, side, program) for side in described.sides}
    plain, ours = counts["plain"], counts["stepscope"]
    said = [f"{side} {count / events:.1f}" for side, count in counts.items()]
    added = f"added {(ours - plain) / events:.1f}, {(ours - plain) / plain:.1%} of plain"
    theirs = described.sides[-1]
    share = (ours - plain) / (counts[theirs] - plain)
    against = "" if theirs == "stepscope" else f", {share:.3f} of what {theirs} adds"
    return f"{program}: {', '.join(said)}; {added}{against}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("part", nargs="?", choices=PARTS)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--between-marks", metavar="SIDE", help="be the child")
    asked = parser.parse_args()
    if asked.between_marks:
        run_between_marks(asked.part, asked.between_marks, asked.program)
    version = sys.version.split()[0]
    said = [f"## Python {version}"]
    for part in [asked.part] if asked.part else PARTS:
        said.append(f"\nPer {PARTS[part].what}:\n")
        for program in [asked.program] if asked.program else PARTS[part].programs:
            said.append(f"- {compare(part, program)}")
            print(said[-1], flush=True)
    if not asked.part:
        write_page(version, "\n".join(said))


def write_page(version: str, section: str) -> None:
    """Of this Python and the others that were counted before."""
    OUT.mkdir(exist_ok=True)
    (OUT / f"instructions-{version}.md").write_text(section + "\n")
    sections = [file.read_text() for file in sorted(OUT.glob("instructions-*.md"))]
    PAGE.write_text("\n".join([INTRODUCTION, *sections]))


if __name__ == "__main__":
    main()
