"""What the stack sampler costs on its own: the same work with and without it, in turns.

One process, no line events, no calls: only the thread that samples the stacks. The control is a
second plain side, whose distance from 1 is the noise.
"""

import contextlib
import tempfile
from collections.abc import Callable, Iterator

from benchmarks.inside import Times, by_clock, load, seconds_of
from benchmarks.ratios import turns
from benchmarks.tools import CONTROL
from stepscope.native import _core
from stepscope.record.names.function_names import namer
from stepscope.record.names.thread_names import name_thread
from stepscope.record.recording import HEARTBEAT_MS
from stepscope.store.writer import Names

ROUNDS = 60  # enough to resolve one hundredth
SAMPLED = "sampled"
MAX_BYTES = 64 * 2**20


def tight_loop() -> Callable[[], object]:
    work: Callable[[], object] = load("tight_loop").work
    return lambda: [work() for _ in range(2)]


def numpy_steps() -> Callable[[], object]:
    step: Callable[[], object] = load("numpy_steps").step
    return lambda: [step() for _ in range(40)]


PROGRAMS = {"tight_loop": tight_loop, "numpy_steps": numpy_steps}


def _nothing(*_: object) -> None:
    return None


@contextlib.contextmanager
def sampling() -> Iterator[None]:
    """The native thread of a recording, without the rest of it."""
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


def compare(work: Callable[[], object], rounds: int) -> Times:
    sides = ["plain", CONTROL, SAMPLED]
    measured: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
    for order in turns(sides, rounds):
        for side in order:
            with sampling() if side == SAMPLED else contextlib.nullcontext():
                measured[side].append(seconds_of(work))
    return by_clock(measured)


def compare_all(rounds: int) -> dict[str, Times]:
    return {name: compare(make(), rounds) for name, make in PROGRAMS.items()}
