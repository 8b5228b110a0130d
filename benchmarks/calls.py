"""Exact calls beside cProfile, in the same process, turn by turn. `python -m benchmarks.calls`

This is the cost of counting calls alone: no boot, no lines, no sampler.
"""

import argparse
import cProfile
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from benchmarks.inside import load, seconds_of
from benchmarks.ratios import Ratio, added_share
from stepscope.native import _core
from stepscope.record import calls

PROGRAMS = ("recursion", "builtins_mix")
ROUNDS = 15
STORAGE_BYTES = 2**26
AT_MOST = 0.75 if sys.version_info < (3, 12) else 0.5


@contextmanager
def stepscope_calls() -> Iterator[None]:
    known: dict[object, int] = {}
    _core.functions_hook(lambda function: known.setdefault(function, len(known) + 1))
    _core.storage_open(None, STORAGE_BYTES, True)
    calls.start(lambda trouble: sys.exit(trouble))
    try:
        yield
    finally:
        calls.stop()
        _core.storage_close()
        _core.functions_hook(None)


TOOLS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "plain": nullcontext,
    "stepscope": stepscope_calls,
    "cProfile": cProfile.Profile,
}


def compare(name: str, rounds: int) -> dict[str, list[float]]:
    """Tool to CPU seconds, one a round; the first round warms up and is left out."""
    measured: dict[str, list[float]] = {tool: [] for tool in TOOLS}
    for number in range(rounds + 1):
        for tool, watch in TOOLS.items():
            program = load(name)
            with watch():
                _, cpu_s = seconds_of(program.work)
            if number:
                measured[tool].append(cpu_s)
    return measured


def added(name: str, rounds: int) -> Ratio:
    """What we add, as a share of what cProfile adds."""
    times = compare(name, rounds)
    return added_share(times["stepscope"], times["cProfile"], times["plain"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    print(f"Python {platform.python_version()}: exact calls add, as a share of what cProfile adds")
    for name in PROGRAMS:
        ratio = added(name, rounds)
        verdict = "" if ratio.median <= AT_MOST else f"   above {AT_MOST:g}"
        print(f"  {name:14} {ratio.median:.2f}  ({ratio.low:.2f} to {ratio.high:.2f}){verdict}")


if __name__ == "__main__":
    main()
