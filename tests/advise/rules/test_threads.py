"""More compute threads than cores: only what the process does to itself counts."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from build import MS, START_NS, RunBuilder
from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.thread_oversubscription import judge
from stepscope.analyze.run import load
from stepscope.store.events import Costs, CpuTimes, Memory
from stepscope.store.format import SYSTEM_FILE

STEPS, STEP = 60, 10 * MS
SWITCHES = 20  # in each step: 2,000 a second


def judged(
    path: Path,
    *,
    own: float,
    machine: float,
    threads: int = 9,
    ready: float = 2.0,
    looks_ms: Sequence[int] = (0, 300, 599),
) -> list[Candidate]:
    """On two cores the process uses `own` of them, all programs together `machine`; its main thread
    has no core for 40 % of the time. `ready`: how many of its threads are ready but have none;
    they are counted at `looks_ms` of the 600 ms that the steps take."""
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
            "waited_ns": {"100": round(ready * at) + 1},
        }
        for at in (each * MS for each in looks_ms)
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
    (found,) = judged(tmp_path / "run", own=own, machine=own)
    assert found.share == pytest.approx(0.4, abs=0.01)
    assert found.trial == "thread-count"


@pytest.mark.parametrize(("ready", "found"), [(0.4, False), (1.0, False), (1.5, True)])
def test_threads_that_sleep_are_not_too_many(ready: float, found: bool, tmp_path: Path) -> None:
    """Of nine, 1.9 compute and so many wait for their turn. With a pool of two threads beside the
    main one, 2.9 are no more than a library makes by itself."""
    candidates = judged(tmp_path / "run", own=1.9, machine=1.95, ready=ready)
    assert bool(candidates) == found
    if found:
        assert "On average, 3.4 of them run or are ready to." in candidates[0].evidence


@pytest.mark.parametrize("looks_ms", [(-200, 700), (250, 599)])
def test_threads_are_counted_from_looks_around_the_steps(
    looks_ms: Sequence[int], tmp_path: Path
) -> None:
    """Once a second is too seldom for short ones: what was counted in half of them is enough."""
    assert judged(tmp_path / "few", own=1.9, machine=1.9, ready=0.4, looks_ms=looks_ms) == []
    assert judged(tmp_path / "many", own=1.9, machine=1.9, looks_ms=looks_ms)


def test_where_the_threads_that_run_were_not_counted_their_number_says_nothing(
    tmp_path: Path,
) -> None:
    with pytest.raises(CannotJudge, match="was not counted"):
        judged(tmp_path / "run", own=1.9, machine=1.9, looks_ms=(0, 250))


def test_the_time_that_others_had_the_cores_is_not_the_threads_fault(tmp_path: Path) -> None:
    """Two threads are ready: for 0.3 of the time that is another program's doing."""
    (found,) = judged(tmp_path / "run", own=1.7, machine=2.0, ready=2.0)
    assert found.share == pytest.approx(0.4 * (1 - 0.3 / 2), abs=0.01)


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
    rows = [
        {"monotonic_ns": START_NS + at, "waited_ns": {str(pid): at for pid in (100, 101, 102)}}
        for at in (0, end)
    ]
    (run.path / SYSTEM_FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    loaded = load(run.path)
    assert loaded.main is not None
    candidates = judge(Case(loaded, loaded.main))
    assert [each.title for each in candidates] == (
        ["38 threads in loader workers on 2 cores"] if found else []
    )
