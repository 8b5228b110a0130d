"""What a trial takes for the time of a step: that of the script, without other programs."""

import json
from pathlib import Path

import pytest

from build import MS, START_NS, RunBuilder
from stepscope.store.events import CpuTimes, Memory
from stepscope.store.format import SYSTEM_FILE
from stepscope.trial.mean_step import MeasuredSteps, measured_steps

STEPS, STEP_MS = 40, 100


def measured(path: Path, *, lost: float, own: float, all_programs: float | None) -> MeasuredSteps:
    """Steps whose thread computes when it has a core, which it lacks for a `lost` share of the
    time; the run uses `own` cores, all programs on the machine as many as they say."""
    run = RunBuilder(path, machine={"host": "here", "cores": 2})
    process = run.process()
    process.step(0, begins=True)
    for number in range(STEPS + 1):
        at_ns = number * STEP_MS * MS
        thread_ns, process_ns = round((1 - lost) * at_ns), round(own * at_ns)
        process.counter(CpuTimes, at_ns, thread_ns=thread_ns, process_ns=process_ns)
        process.counter(Memory, at_ns, run_delay_ns=round(lost * at_ns))
        if number:
            process.step(at_ns)
    process.write(STEPS * STEP_MS * MS)
    looks = [0, STEPS * STEP_MS * MS] if all_programs is not None else []
    rows = [
        {"monotonic_ns": START_NS + at_ns, "cpu_ns": round((all_programs or 0) * at_ns)}
        for at_ns in looks
    ]
    (run.path / SYSTEM_FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return measured_steps(str(run.path), None)


def test_other_programs_had_the_core_that_the_script_waited_for(tmp_path: Path) -> None:
    found = measured(tmp_path, lost=0.75, own=0.25, all_programs=2.0)
    assert found.mean_ms == pytest.approx(STEP_MS)
    assert found.lost == pytest.approx(0.75, abs=0.01)


def test_a_script_that_is_in_its_own_way_lost_nothing_to_others(tmp_path: Path) -> None:
    """Too many threads on an otherwise idle machine: what cures that gains all of it."""
    found = measured(tmp_path, lost=0.5, own=2.0, all_programs=2.0)
    assert found.lost == pytest.approx(0.0, abs=0.01)


def test_of_a_wait_for_both_the_others_have_their_part(tmp_path: Path) -> None:
    """One core goes to the script: half of it to its main thread, half to its workers."""
    found = measured(tmp_path, lost=0.5, own=1.0, all_programs=2.0)
    assert found.lost == pytest.approx(0.5 * 1.0 / (1.0 + 0.5), abs=0.01)


def test_without_a_look_at_the_machine_nothing_is_known(tmp_path: Path) -> None:
    assert measured(tmp_path, lost=0.5, own=0.5, all_programs=None).lost is None
