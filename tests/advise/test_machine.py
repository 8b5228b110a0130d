"""What the machine does beside the main thread: other programs, and JAX's own computing."""

from pathlib import Path

import numpy as np
import pytest

from build import MS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.findings import busy_machine, findings
from stepscope.advise.gain import computed_beside
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.phases.without_core import without_delay
from stepscope.analyze.run import load, select
from stepscope.store.events import CpuTimes, Memory
from stepscope.store.format import SpanCategory
from stepscope.store.reader import Run

STEPS, STEP = 60, 10 * MS


def recorded(path: Path, *, cpu: float, delay: float) -> Run:
    """Steps of 10 ms, in which the process uses `cpu` cores; its main thread has no core for the
    share `delay` of the time."""
    run = RunBuilder(path)
    process = run.process()
    end = process.for_loop(process.loop(process.code(), 2, 9), 0, [STEP] * STEPS)
    for at in range(0, end + 1, STEP):
        process.counter(CpuTimes, at, process_ns=round(cpu * at))
        process.counter(Memory, at, run_delay_ns=round(delay * at))
    process.write()
    return load(run.path)


def case_of(run: Run) -> Case:
    process = select(run)
    assert process is not None
    return Case(run, process)


def candidate(id: str, saved_ms: float) -> Candidate:
    saving = Saving.part_of(saved_ms * MS, expected=1.0, least=0.5, most=1.1)
    return Candidate(
        id=id, title="", verdict="", share=0.8, evidence=[], location=None, saving=saving, fix=""
    )


def test_a_machine_that_others_use_is_reported_beside_a_clean_bill(tmp_path: Path) -> None:
    answer = findings(recorded(tmp_path / "run", cpu=0.5, delay=0.5))
    assert answer.findings == []
    assert "the machine was busy: 50 % of the time" in answer.verdict


def test_too_many_threads_of_its_own_are_not_the_machines_fault(tmp_path: Path) -> None:
    case = case_of(recorded(tmp_path / "run", cpu=0.5, delay=0.5))
    assert busy_machine(case, []) is not None
    assert busy_machine(case, [candidate("thread-oversubscription", 4)]) is None


def test_a_quiet_machine_is_not_spoken_of(tmp_path: Path) -> None:
    assert "busy" not in findings(recorded(tmp_path / "run", cpu=1.0, delay=0.05)).verdict


def test_what_is_computed_beside_the_main_thread(tmp_path: Path) -> None:
    """Of 15 ms of CPU time per step, 8 are the main thread's: the time in which it has a core."""
    case = case_of(recorded(tmp_path / "run", cpu=1.5, delay=0.2))
    assert computed_beside.computed_beside_ns(case) == pytest.approx(7 * MS, rel=0.02)


def test_jax_gains_no_more_than_what_it_does_not_compute_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It computes for 7 ms, for which it has a core 80 % of the time."""
    case = case_of(recorded(tmp_path / "run", cpu=1.5, delay=0.2))
    told = [candidate("input-bound", 8), candidate("eager-overhead", 8)]
    monkeypatch.setattr(computed_beside, "framework_of", lambda _case: "torch")
    assert computed_beside.limited(case, told) == told
    monkeypatch.setattr(computed_beside, "framework_of", lambda _case: "jax")
    loading, launching = computed_beside.limited(case, told)
    assert loading.saving.expected == pytest.approx((10 - 7 / 0.8) * MS, rel=0.1)
    assert loading.saving.most == told[0].saving.most
    assert launching == told[1]


def test_time_without_a_core_is_in_what_a_phase_took_beyond_the_usual() -> None:
    """8 ms of input and 2 of the rest; each fourth step loses its core for 10 ms in the rest. One
    step does take 5 ms longer: it had its core all the time."""
    phases = np.tile([8.0 * MS, 2.0 * MS], (40, 1))
    lost = np.zeros(40)
    phases[::4, 1] += 10 * MS
    lost[::4] = 10 * MS
    phases[1, 1] += 5 * MS
    own = without_delay(phases, lost)
    assert own[:, 0] == pytest.approx(np.full(40, 8 * MS))
    assert own[1, 1] == pytest.approx(7 * MS)
    assert np.delete(own[:, 1], 1) == pytest.approx(np.full(39, 2 * MS))


def test_a_core_that_is_lost_in_every_step_is_lost_to_all_phases_alike() -> None:
    own = without_delay(np.tile([8.0 * MS, 2.0 * MS], (40, 1)), np.full(40, 5.0 * MS))
    assert own == pytest.approx(np.tile([4.0 * MS, 1.0 * MS], (40, 1)))


def test_a_core_is_not_lost_to_what_few_steps_do() -> None:
    """Each fourth step saves for 20 ms; each eighth loses its core for 5 ms while it trains."""
    own = np.tile([10.0 * MS, 0.0], (40, 1))
    own[::4, 1] = 20 * MS
    lost = np.zeros(40)
    lost[::8] = 5 * MS
    phases = own + np.stack([lost, np.zeros(40)], axis=1)
    assert without_delay(phases, lost) == pytest.approx(own)


def test_what_a_line_of_log_is_known_to_wait_for_a_core_is_not_the_logs(tmp_path: Path) -> None:
    """200 steps of 2 ms, each tenth of which prints for 1 ms and loses its core for 4. The counter
    is read every 20 ms, which spreads it over all of them."""
    process = RunBuilder(tmp_path / "run").process()
    process.step(0, begins=True)
    at, lost = 0, 0
    for step in range(200):
        at += 2 * MS
        if step % 10 == 0:
            end = at + 5 * MS
            process.span(SpanCategory.LOGGING, at, end, name="print", without_core_ns=4 * MS)
            at, lost = end, lost + 4 * MS
        process.step(at)
        if step % 10 == 9:
            process.counter(Memory, at, run_delay_ns=lost)
    process.write()
    run = load(tmp_path / "run")
    logs = {row.category: row for row in steps(run).breakdown or []}["logging"]
    assert logs.share == pytest.approx(7 / 3 / 25, rel=0.05)  # a third of the step's 7 ms
    assert "logging-stall" not in {each.id for each in findings(run).findings}


def test_a_core_that_a_line_of_log_loses_each_time_is_not_the_logs() -> None:
    """Each tenth step prints for 1 ms, and loses its core to the reader for 19 ms."""
    own = np.tile([10.0 * MS, 0.0], (40, 1))
    own[::10, 1] = 1 * MS
    lost = np.zeros(40)
    lost[::10] = 19 * MS
    phases = own + np.stack([np.zeros(40), lost], axis=1)
    assert without_delay(phases, lost) == pytest.approx(own)
