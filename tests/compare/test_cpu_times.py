"""CPU time on a busy machine, where the counters are read less often than steps end."""

from pathlib import Path

import numpy as np
import pytest

from build import MS, RunBuilder
from stepscope.analyze.run import load
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.compare.compare import compare
from stepscope.compare.recording import group_starts
from stepscope.store.events import CpuTimes, Memory
from stepscope.store.reader import Run

STEPS = 150
SLICE_MS = 4  # on a core at a time
AWAY_MS = 30  # in between, on average
READ_EVERY_MS = 45


def on_a_busy_machine(path: Path, cpu_ms: int, seed: int) -> Run:
    """Steps that take `cpu_ms` of a core each, and as long as it takes to get that."""
    random = np.random.default_rng(seed)
    slices = STEPS * cpu_ms // SLICE_MS + 2
    away_ms = np.concatenate([[0], random.exponential(AWAY_MS, slices).cumsum()])
    used_ms = np.arange(slices + 1) * SLICE_MS
    clock_ms = np.stack([used_ms[:-1] + away_ms[:-1], used_ms[1:] + away_ms[:-1]], 1).ravel()
    cpu = np.stack([used_ms[:-1], used_ms[1:]], 1).ravel()
    process = RunBuilder(path).process()
    process.step(0, begins=True)
    ends_ms = np.interp(np.arange(1, STEPS + 1) * cpu_ms, cpu, clock_ms)
    for at_ms in ends_ms:
        process.step(int(at_ms * MS))
    for at_ms in np.arange(0, ends_ms[-1] + READ_EVERY_MS, READ_EVERY_MS):
        used = float(np.interp(at_ms, clock_ms, cpu))
        at_ns = int(at_ms * MS)
        process.counter(CpuTimes, at_ns, thread_ns=int(used * MS))
        lost_ns = max(0, int((at_ms - used) * MS))
        process.counter(Memory, at_ns, resident_bytes=2**20, run_delay_ns=lost_ns)
    process.write(int(ends_ms[-1] * MS))
    return load(path)


@pytest.mark.parametrize("seed", range(3))
def test_twice_the_work_is_found_where_steps_are_shorter_than_what_lies_between_readings(
    tmp_path: Path, seed: int
) -> None:
    before = on_a_busy_machine(tmp_path / "a", 3, 2 * seed)
    after = on_a_busy_machine(tmp_path / "b", 6, 2 * seed + 1)
    answer = compare(before, after)
    assert answer.decided_on == "CPU time of the main thread"
    assert answer.significant, answer.verdict
    assert answer.cpu is not None
    assert answer.cpu.low <= 0.5 <= answer.cpu.high


def test_the_same_work_is_not_told_apart_there(tmp_path: Path) -> None:
    runs = [on_a_busy_machine(tmp_path / str(seed), 3, seed) for seed in range(6)]
    pairs = zip(runs[::2], runs[1::2], strict=True)
    assert not any(compare(one, other).significant for one, other in pairs)


def measured(run: Run) -> FoundSteps:
    return find_steps(run, run.main)


def test_a_step_that_was_read_often_stands_alone(tmp_path: Path) -> None:
    steps = measured(on_a_busy_machine(tmp_path, 3, 0))
    count = int(steps.is_measured.sum())
    often = np.arange(0, int(steps.end_ns[-1]), int(steps.duration_ns.min()) // 10)
    assert group_starts(often, steps).tolist() == list(range(count))
    assert group_starts(often[:0], steps).tolist() == [0]
