"""What recording costs with this checkout, beside another one: before and after a change.

    python -m benchmarks.against OTHER [--rounds 10]      writes benchmarks/against.md

OTHER is a checkout with its own `.venv`. Plain, the other and this one take turns, so that the
machine's noise affects all alike.
"""

import argparse
import sys
from pathlib import Path

from benchmarks import machine, tools
from benchmarks.ratios import Ratio, slowdown
from benchmarks.run import CLOCKS, CLOSE, compare, is_here
from benchmarks.tools import CONTROL, Command

PAGE = Path(__file__).parent / "against.md"
PROGRAMS = (*CLOSE, "tight_loop", "calls_library", "recursion", "generator")
SIDES = ("before", "after", CONTROL)
INTRODUCTION = """# What recording costs, before and after

Made by `python -m benchmarks.against`; do not edit. How many times as long the work takes as
without stepscope: the median over rounds that take turns, and in brackets the middle half of them.
`before` is {before}, `after` is this checkout; `plain again` is the machine's noise. One compute
thread, default `stepscope run`.
"""


def of_checkout(checkout: Path) -> Command:
    """The tool as it is in another checkout, with the Python of that checkout."""

    def command(program: Path, folder: Path) -> list[str]:
        ours = tools.stepscope(program, folder)
        return [str(checkout / ".venv/bin/python"), *ours[1:]]

    return command


def in_words(ratio: Ratio) -> str:
    return f"{ratio.median:.3f} ({ratio.low:.3f}–{ratio.high:.3f})"


def rows(program: str, other: Path, rounds: int) -> list[str]:
    sides = {"plain": tools.plain, CONTROL: tools.plain}
    times = compare(
        program, rounds, {**sides, "before": of_checkout(other), "after": tools.stepscope}
    )
    return [
        f"| {program}, {clock.removesuffix('_s')} | "
        + " | ".join(
            in_words(slowdown(times[clock][side], times[clock]["plain"])) for side in SIDES
        )
        + " |"
        for clock in CLOCKS
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("other", type=Path)
    parser.add_argument("--name", help="what to call the other checkout")
    parser.add_argument("--programs", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--rounds", type=int, default=10)
    asked = parser.parse_args()
    table = [f"| program | {' | '.join(SIDES)} |", "| --- | ---: | ---: | ---: |"]
    for program in filter(is_here, asked.programs):
        table += rows(program, asked.other.resolve(), asked.rounds)
        print(*table[-2:], sep="\n", file=sys.stderr, flush=True)
    introduction = INTRODUCTION.format(before=asked.name or asked.other)
    PAGE.write_text("\n".join([introduction, machine.sentence(machine.describe()), "", *table, ""]))


if __name__ == "__main__":
    main()
