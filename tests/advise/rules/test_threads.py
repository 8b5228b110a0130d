"""More compute threads than cores: only what the process does to itself counts."""

import json
from pathlib import Path

import pytest

from build import MS, START_NS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.thread_oversubscription import judge
from stepscope.analyze.run import load
from stepscope.store.events import Costs, CpuTimes, Memory
from stepscope.store.format import SYSTEM_FILE

STEPS, STEP = 60, 10 * MS
SWITCHES = 20  # in each step: 2,000 a second


def judged(
    path: Path, *, own: float, machine: float, threads: int = 9, ready: float | None = None
) -> list[Candidate]:
    """On two cores the process uses `own` of them, all programs together `machine`; its main thread
    has no core for 40 % of the time. `ready`: how many of its threads are ready but have none, in a
    run in which they were counted."""
    run = RunBuilder(path, machine={"host": "here", "cores": 2})
    process = run.process()
    end = process.for_loop(process.loop(process.code(), 2, 9), 0, [STEP] * STEPS)
    for number, at in enumerate(range(0, end + 1, STEP)):
        process.counter(
            CpuTimes, at, process_ns=round(own * at), involuntary_switches=SWITCHES * number
        )
        process.counter(Memory, at, run_delay_ns=round(0.4 * at))
        process.counter(Costs, at, threads=threads)
    process.write()
    rows = [
        {
            "monotonic_ns": START_NS + at,
            "cpu_ns": round(machine * at),
            "waited_ns": {} if ready is None else {"100": round(ready * at) + 1},
        }
        for at in (0, end // 2, end - 1)
    ]
    (run.path / SYSTEM_FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    loaded = load(run.path)
    assert loaded.main is not None
    return judge(Case(loaded, loaded.main))


@pytest.mark.parametrize("own", [1.95, 1.5])
def test_threads_that_only_the_process_itself_is_in_the_way_of_are_too_many(
    own: float, tmp_path: Path
) -> None:
    """Also where they leave some of a core idle, as those that wait for each other do."""
    (found,) = judged(tmp_path / "run", own=own, machine=own + 0.05)
    assert found.share == pytest.approx(0.4, abs=0.01)
    assert found.trial == "thread-count"


@pytest.mark.parametrize(("ready", "found"), [(0.4, False), (1.5, True)])
def test_threads_that_sleep_are_not_too_many(ready: float, found: bool, tmp_path: Path) -> None:
    """Of nine, 1.9 compute and so many wait for their turn."""
    candidates = judged(tmp_path / "run", own=1.9, machine=1.95, ready=ready)
    assert bool(candidates) == found
    if found:
        assert "On average, 3.4 of them run or are ready to." in candidates[0].evidence


def test_on_a_machine_that_others_use_the_threads_are_not_to_blame(tmp_path: Path) -> None:
    assert judged(tmp_path / "run", own=1.5, machine=2.0) == []


def test_as_many_threads_as_cores_are_not_too_many(tmp_path: Path) -> None:
    assert judged(tmp_path / "run", own=1.95, machine=2.0, threads=3) == []


@pytest.mark.parametrize(("threads", "found"), [(19, True), (3, False)])
def test_loader_workers_with_threads_of_their_own_are_too_many(
    threads: int, found: bool, tmp_path: Path
) -> None:
    """Two workers use the cores that the main thread waits for: with one thread each, they are only
    the workers that the script asked for."""
    run = RunBuilder(tmp_path / "run", machine={"host": "here", "cores": 2})
    end = STEPS * STEP
    for pid, own in ((100, 0.4), (101, 0.8), (102, 0.8)):
        is_main = pid == 100
        process = run.process(
            pid=pid, role="main" if is_main else "worker", parent_pid=1 if is_main else 100
        )
        if is_main:
            process.for_loop(process.loop(process.code(), 2, 9), 0, [STEP] * STEPS)
        for number, at in enumerate(range(0, end + 1, STEP)):
            process.counter(
                CpuTimes, at, process_ns=round(own * at), involuntary_switches=SWITCHES * number
            )
            process.counter(Memory, at, run_delay_ns=round(0.4 * at) if is_main else 0)
            process.counter(Costs, at, threads=3 if is_main else threads)
        process.write()
    loaded = load(run.path)
    assert loaded.main is not None
    candidates = judge(Case(loaded, loaded.main))
    assert [each.title for each in candidates] == (
        ["38 threads in loader workers on 2 cores"] if found else []
    )
