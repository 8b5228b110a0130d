"""Writes benchmarks/results.md from the times of each Python: `python -m benchmarks.report`.

A Python that was not measured here keeps its section.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.inside import Times
from benchmarks.ratios import Ratio, added_share, slowdown
from benchmarks.run import OUT
from benchmarks.sampler import SAMPLED
from benchmarks.tools import ALL_TOOLS, CONTROL

RESULTS = Path(__file__).parent / "results.md"

PROGRAM_NAMES = {
    "tight_loop": "tight loop",
    "settled_loop": "tight loop, after 2.5 s",
    "calls_library": "profiled line calls unprofiled code",
    "recursion": "recursion",
    "generator": "generator",
    "numpy_steps": "NumPy steps of 3 ms",
    "torch_cnn": "PyTorch steps of 3 ms",
    "keras_fit": "Keras `fit`, steps of 5 ms",
    "jax_update": "JAX steps of 5 ms",
    "builtins_mix": "a mix with builtins",
}
DEFAULT_RUN_AT_MOST = {
    "numpy_steps": 1.02,
    "torch_cnn": 1.03,
    "keras_fit": 1.03,
    "jax_update": 1.03,
}

CLOCK_NAMES = {"wall_s": "wall time", "cpu_s": "CPU time"}

INTRODUCTION = """# What recording costs

Made by `make bench`; do not edit. Each figure is how many times as long the work takes as without
a tool: the median over rounds, and in brackets the middle half of them. In a round each tool runs
once, in shuffled order; `plain again` is a second run without a tool: what the machine's noise
alone does. One compute thread. CPU time is the process's, with the threads that a tool started; on
a machine that others use too it is the steadier clock, and wall time is what you wait.
"""

NOTES = """
Reading it: `stepscope` is the default `stepscope run`, which records all of the program's own
lines, steps, files, memory and garbage collections and thins out what would break its budget of
3 % after 2 s; `--exact` never thins. line_profiler records the functions that are decorated.
cProfile and VizTracer record calls, not lines; pyinstrument and Scalene sample. "Unprofiled code"
is a module that neither line profiler was asked to record.
"""


def shown(ratio: Ratio) -> str:
    digits = 3 if ratio.median < 1.5 else 1
    return f"{ratio.median:.{digits}f} ({ratio.low:.{digits}f}–{ratio.high:.{digits}f})"


def table(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def slowdowns(measured: dict[str, Any], tools: list[str], clock: str) -> str:
    rows = []
    for program, times in measured.items():
        of_tool = times[clock]
        cells = [
            shown(slowdown(of_tool[tool], of_tool["plain"])) if of_tool.get(tool) else "–"
            for tool in tools
        ]
        rows.append([PROGRAM_NAMES[program], *cells])
    return table([CLOCK_NAMES[clock], *tools], rows)


def criterion(what: str, limit: str, values: list[Ratio], most: float) -> list[str]:
    """A criterion must hold on both clocks."""
    holds = all(value.median <= most for value in values)
    return [what, limit, *map(shown, values), "yes" if holds else "**no**"]


def not_measurable(what: str, times: Times, side: str = "stepscope") -> list[str]:
    """Holds if our median is within the middle half of the differences between two plain runs."""
    control = slowdowns_by_clock(times, CONTROL)
    values = slowdowns_by_clock(times, side)
    holds = all(
        value.median <= max(noise.high, 1.01) for value, noise in zip(values, control, strict=True)
    )
    limit = f"noise: {' / '.join(shown(noise) for noise in control)}"
    return [what, limit, *map(shown, values), "yes" if holds else "**no**"]


def added(times: Times, theirs: str) -> list[Ratio]:
    """What we add, as a share of what they add."""
    return [
        added_share(of["stepscope"], of[theirs], of["plain"])
        for of in (times[clock] for clock in CLOCK_NAMES)
    ]


def slowdowns_by_clock(times: Times, side: str) -> list[Ratio]:
    return [slowdown(times[clock][side], times[clock]["plain"]) for clock in CLOCK_NAMES]


def call_criteria(result: dict[str, Any]) -> list[list[str]]:
    """On 3.11, the C profile function leaves less room for gains than sys.monitoring."""
    most = 0.75 if result["machine"]["python"].startswith("3.11.") else 0.5
    what = "exact calls, {}: what they add, as a share of what cProfile adds"
    return [
        criterion(
            what.format(PROGRAM_NAMES[name]), f"at most {most:g}", added(times, "cProfile"), most
        )
        for name, times in result["calls"].items()
    ]


def line_criteria(result: dict[str, Any]) -> list[list[str]]:
    lines = result["inside"]
    return [
        criterion(
            "exact lines, tight loop: what they add, as a share of what line_profiler adds",
            "at most 0.167",
            added(lines["tight_loop"], "line_profiler"),
            1 / 6,
        ),
        not_measurable("unprofiled code called from a profiled line", lines["calls_library"]),
    ]


def sampler_criteria(result: dict[str, Any]) -> list[list[str]]:
    sampled = result["sampler"]
    return [
        criterion(
            "stack sampler alone, tight loop",
            "at most 1.01",
            slowdowns_by_clock(sampled["tight_loop"], SAMPLED),
            1.01,
        ),
        not_measurable("stack sampler alone, NumPy steps of 3 ms", sampled["numpy_steps"], SAMPLED),
    ]


def run_criteria(result: dict[str, Any]) -> list[list[str]]:
    rows = []
    for program, most in DEFAULT_RUN_AT_MOST.items():
        times = result["close"].get(program)
        if times:
            what = f"{PROGRAM_NAMES[program]}: default `run`"
            found = slowdowns_by_clock(times, "stepscope")
            rows.append(criterion(what, f"at most {most:g}", found, most))
    return rows


CRITERIA = {
    "inside": line_criteria,
    "calls": call_criteria,
    "sampler": sampler_criteria,
    "close": run_criteria,
}


def criteria(result: dict[str, Any]) -> str:
    rows = [row for part, rows_of in CRITERIA.items() if part in result for row in rows_of(result)]
    return table(["what it must show", "limit", "wall time", "CPU time", "holds"], rows)


# Each part of the measurements: what it is, the tools beside plain, and the clocks.
PARTS: dict[str, tuple[str, list[str], tuple[str, ...]]] = {
    "close": (
        "Ours alone beside plain, in more rounds:", [CONTROL, "stepscope"], tuple(CLOCK_NAMES)
    ),
    "whole": (
        "Whole processes, as a person starts them; start-up and writing of results are not counted "
        "(–: the\ntool failed, or is not for this program):",
        [tool for tool in ALL_TOOLS if tool != "plain"],
        tuple(CLOCK_NAMES),
    ),
    "inside": (
        "The line profilers alone, a process each, turn by turn:",
        [CONTROL, "stepscope", "line_profiler"],
        tuple(CLOCK_NAMES),
    ),
    "calls": (
        "Exact calls alone, in one process, turn by turn:", ["stepscope", "cProfile"], ("cpu_s",)
    ),
    "sampler": (
        "The stack sampler alone, in one process, turn by turn:",
        [CONTROL, SAMPLED],
        tuple(CLOCK_NAMES),
    ),
}  # fmt: skip


def part_of(result: dict[str, Any], part: str) -> str:
    words, tools, clocks = PARTS[part]
    tables = [slowdowns(result[part], tools, clock) for clock in clocks]
    return "\n\n".join([words, *tables])


def section(result: dict[str, Any]) -> str:
    """A Python may have been measured in some parts only."""
    machine = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    parts = "\n\n".join(part_of(result, part) for part in PARTS if part in result)
    return f"""
## Python {machine["python"]}

{machine["date"]}, {machine["processor"]}, {machine["cores"]} cores, {machine["system"]};
load before {machine["load_before"]:.1f}; {versions}

{criteria(result)}

{parts}
"""


_SECTION = re.compile(r"\n## Python (3\.\d+)\..*?(?=\n## Python |\nReading it: |\Z)", re.DOTALL)


def page(measured: dict[str, dict[str, Any]], before: str) -> str:
    """`measured`: by version, as 3.14."""
    sections = {found[1]: found[0] for found in _SECTION.finditer(before)}
    sections |= {version: section(result) for version, result in measured.items()}
    in_order = sorted(sections, key=lambda version: int(version.removeprefix("3.")))
    return INTRODUCTION + "".join(sections[version] for version in in_order) + NOTES


def main() -> None:
    measured = {path.stem: json.loads(path.read_text()) for path in OUT.glob("3.*.json")}
    RESULTS.write_text(page(measured, RESULTS.read_text()))
    print(f"wrote {RESULTS}")


if __name__ == "__main__":
    main()
