"""What the stack sampler costs by itself: the same work with and without it, turn by turn.

One process, no line events, no calls: only the thread that looks at the stacks. The control is a
second plain side, whose distance from 1 is the noise. `python -m benchmarks.sampler`
"""

import argparse
import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator

from benchmarks.inside import load, seconds_of
from benchmarks.ratios import Ratio, slowdown, turns
from benchmarks.tools import CONTROL
from stepscope.native import _core
from stepscope.record.functions import namer
from stepscope.record.recording import HEARTBEAT_MS
from stepscope.record.samples import name_thread
from stepscope.store.writer import Names

ROUNDS = 15
SAMPLED = "sampled"
MAX_BYTES = 64 * 2**20


def tight_loop() -> Callable[[], object]:
    work: Callable[[], object] = load("tight_loop").work
    return lambda: [work() for _ in range(5)]


def numpy_steps() -> Callable[[], object]:
    step: Callable[[], object] = load("numpy_steps").step
    return lambda: [step() for _ in range(100)]


PROGRAMS = {"tight_loop": tight_loop, "numpy_steps": numpy_steps}


def _nothing(*_: object) -> None:
    return None


@contextlib.contextmanager
def sampling() -> Iterator[None]:
    """The native thread of a recording, and nothing else of it."""
    with tempfile.TemporaryDirectory() as folder:
        names = Names(folder)
        _core.hooks_start(
            on_code=_nothing, on_open=_nothing, on_thread=lambda *who: name_thread(names, *who[:2]),
            on_fork=_nothing, on_name=_nothing, on_import=_nothing, on_exit=_nothing,
            watched=frozenset(),
        )  # fmt: skip
        _core.functions_hook(namer(names))
        _core.storage_open(folder, MAX_BYTES)
        _core.heartbeat_start(HEARTBEAT_MS, 0.03, 20.0, False)
        try:
            yield
        finally:
            _core.heartbeat_stop()
            _core.storage_close()
            _core.functions_hook(None)
            _core.hooks_stop()
            names.close()


def compare(work: Callable[[], object], rounds: int) -> dict[str, tuple[Ratio, Ratio]]:
    """Side to its slow-down, on the wall and in CPU time."""
    sides = ["plain", CONTROL, SAMPLED]
    measured: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
    for order in turns(sides, rounds):
        for side in order:
            with sampling() if side == SAMPLED else contextlib.nullcontext():
                measured[side].append(seconds_of(work))
    columns = {side: list(zip(*times, strict=True)) for side, times in measured.items()}
    return {
        side: (
            slowdown(columns[side][0], columns["plain"][0]),
            slowdown(columns[side][1], columns["plain"][1]),
        )
        for side in sides[1:]
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds: int = parser.parse_args().rounds
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name, make in PROGRAMS.items():
        for side, (wall, cpu) in compare(make(), rounds).items():
            print(
                f"{name:12} {side:8} wall {wall.median:.4f} ({wall.low:.4f} to {wall.high:.4f})"
                f"  cpu {cpu.median:.4f} ({cpu.low:.4f} to {cpu.high:.4f})"
            )


if __name__ == "__main__":
    main()
