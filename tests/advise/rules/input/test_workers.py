"""What workers would gain: what moves to them, what stays, and what it costs to start them."""

from pathlib import Path

import numpy as np
import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.overlap import Overlap
from stepscope.advise.gain.workers import START_NS, overlap_of
from stepscope.advise.rules.input_bound import judge
from stepscope.analyze.run import load
from stepscope.store.events import CpuTimes, Memory
from stepscope.store.format import SpanCategory

STEPS, STEP_NS = 40, 20 * MS
LOADER = "/x/torch/utils/data/dataloader.py"
FETCH = "/x/torch/utils/data/_utils/fetch.py"
SOURCE = """def sorted_again(lengths):
    return argsort(lengths)
def decode(self, path):
    picture = read(path)
    return resize(picture)
def jitter(self, path):
    return read(path) + random.random()
"""


def case_of(run: RunBuilder) -> Case:
    opened = load(run.path)
    assert opened.main is not None
    return Case(opened, opened.main)


def steps(
    path: Path, *, wait_ms: float, fetch_ms: float, function: tuple[str, str] = ("", ""),
    lines_ms: tuple[float, ...] = (), epoch: int = STEPS, anew: bool = False,
    cores: int = 4,
) -> RunBuilder:  # fmt: skip
    """Steps of 20 ms that load their batch themselves: `fetch_ms` of the wait are fetching. All of
    it is in a function (name, file that called it), in lines that take so much of each batch."""
    run = RunBuilder(path, machine={"host": "here", "cores": cores})
    process = run.process()
    process.step(0, begins=True)
    for step in range(STEPS):
        at, loader = step * STEP_NS, 1 + (step // epoch if anew else 0)
        there = at + round(wait_ms * MS)
        about = {"loader": loader, "loader_workers": 0}
        if step % epoch == 0:
            process.span(SpanCategory.INPUT, at, at + 1, name="DataLoader.__iter__", **about)
        process.span(SpanCategory.INPUT, at + 2, there, name="batch", samples=8, **about)
        process.span(SpanCategory.STAGE, there - round(fetch_ms * MS), there - 1, name="fetch")
        process.span(SpanCategory.FORWARD, there, at + STEP_NS)
        process.step(at + STEP_NS)
    _seen(process, *function, wait_ms, lines_ms)
    process.write()
    return run


def _seen(
    process: ProcessBuilder, name: str, below: str, wait_ms: float, lines_ms: tuple[float, ...]
) -> None:
    if not name:
        return
    first = next(n for n, text in enumerate(SOURCE.splitlines(), 1) if f"def {name}" in text)
    code = process.code(name, file=process.file(text=SOURCE), first_line=first)
    rows = [(STEPS, round(each * MS) * STEPS) for each in lines_ms]
    process.lines(code, first, [(0, 0), *rows], calls=STEPS)
    main = process.node(process.function("train"), line=50)
    caller = process.node(process.function("_next_data", file=LOADER), main)
    if below != LOADER:
        caller = process.node(process.function("fetch", file=below), caller)
    node = process.node(process.function(name, line=first), caller, line=first + 1)
    for step in range(STEPS):
        process.sample(node, step * STEP_NS + MS, round(wait_ms * MS) - 2 * MS, count=5)


def judged(run: RunBuilder) -> Candidate:
    (found,) = judge(case_of(run))
    return found


def test_the_sampler_stays_in_the_training_process(tmp_path: Path) -> None:
    """12 of 20 ms are the wait, of which 2 are fetching: workers would leave 18."""
    run = steps(tmp_path / "run", wait_ms=12, fetch_ms=2, function=("sorted_again", LOADER))
    overlap = overlap_of(case_of(run), hand_over_ns=0.0)
    assert overlap is not None
    assert overlap.step_ns(2) / MS == pytest.approx(18.0, rel=0.01)


def test_a_wait_for_the_sampler_is_not_cured_by_workers(tmp_path: Path) -> None:
    found = judged(steps(tmp_path, wait_ms=12, fetch_ms=1, function=("sorted_again", LOADER)))
    assert found.trial == "free-input"
    assert "num_workers" not in found.fix
    assert found.location is not None
    assert found.location.function == "sorted_again"
    assert found.saving.expected / MS == pytest.approx(12.0, rel=0.05)


def test_a_sample_that_is_prepared_once_leaves_all_that_its_function_does(tmp_path: Path) -> None:
    """Two lines of 5 and 6 ms of a loading of 12: the hottest alone would be half of it."""
    decode = steps(
        tmp_path, wait_ms=12, fetch_ms=12, function=("decode", FETCH), lines_ms=(5.0, 6.0), cores=1
    )
    found = judged(decode)
    assert found.trial == "cache-samples"
    assert found.saving.expected / MS == pytest.approx(11.0, rel=0.02)
    assert found.saving.least / MS == pytest.approx(0.75 * 6, rel=0.02)


def test_a_sample_that_is_drawn_cannot_be_prepared_once(tmp_path: Path) -> None:
    """Then nobody knows what less work would be: half of it."""
    drawn = steps(
        tmp_path, wait_ms=12, fetch_ms=12, function=("jitter", FETCH), lines_ms=(12.0,), cores=1
    )
    assert judged(drawn).saving.expected / MS == pytest.approx(6.0, rel=0.02)


@pytest.mark.parametrize(("anew", "start_ns"), [(False, 0.0), (True, START_NS)])
def test_only_a_loader_that_is_made_for_each_epoch_starts_its_workers_again(
    anew: bool, start_ns: float, tmp_path: Path
) -> None:
    run = steps(tmp_path, wait_ms=12, fetch_ms=12, epoch=10, anew=anew)
    overlap = overlap_of(case_of(run), hand_over_ns=0.0)
    assert overlap is not None
    assert overlap.start_ns == start_ns
    assert overlap.begins is not None
    assert overlap.begins.sum() == 3  # the first epoch is the warm-up's


def epochs_of_ten(start_ms: float) -> Overlap:
    """10 ms to load and 10 for the rest, in epochs of 10 steps."""
    begins = np.arange(400) % 10 == 0
    load, rest = np.full(400, 10.0 * MS), np.full(400, 10.0 * MS)
    return Overlap(load, rest, 10.0 * MS, 10.0 * MS, 16, 0.0, begins, start_ms * MS)


def test_where_an_epoch_begins_nothing_is_loaded_ahead() -> None:
    """One worker: 10 steps of 10 ms and the first batch, which nobody loaded meanwhile."""
    assert epochs_of_ten(0).step_ns(1) / MS == pytest.approx(11.0, rel=0.01)


def test_workers_that_start_in_every_epoch_may_cost_more_than_they_gain() -> None:
    """Two of them take 60 ms to start, and the first batch 10: an epoch of 200 ms takes 170."""
    assert epochs_of_ten(30).step_ns(2) / MS == pytest.approx(17.0, rel=0.02)
    assert epochs_of_ten(60).gained(2, now=0) == 0.0


@pytest.mark.parametrize(("lost", "is_found"), [(0.9, False), (0.1, True)])
def test_workers_that_have_no_core_load_late_whatever_they_do(
    lost: float, is_found: bool, tmp_path: Path
) -> None:
    """Steps of 20 ms wait 8 of them for a worker that needs 18 for each batch, so much of that
    without a core. The main thread has none for a quarter of the time."""
    run = RunBuilder(tmp_path / "run", machine={"host": "here", "cores": 2})
    main, worker = run.process(), run.process(pid=101, role="worker", parent_pid=100)
    about = {"loader": 1, "loader_workers": 1}
    main.span(SpanCategory.STAGE, 0, 1, name="worker", worker_pid=101, **about)
    main.step(0, begins=True)
    for step in range(STEPS):
        at = step * STEP_NS
        for process, share in ((main, 0.25), (worker, lost * 0.9)):
            process.counter(Memory, at, run_delay_ns=round(share * at))
            process.counter(CpuTimes, at, process_ns=round((0.6 if process is main else 0.1) * at))
        main.span(SpanCategory.INPUT, at, at + 8 * MS, name="batch", samples=8, **about)
        main.span(SpanCategory.STAGE, at + 8 * MS - 1000, at + 8 * MS - 1, name="get")
        main.span(SpanCategory.FORWARD, at + 8 * MS, at + STEP_NS)
        worker.span(SpanCategory.STAGE, at, at + 18 * MS, name="fetch")
        main.step(at + STEP_NS)
    main.write()
    worker.write()
    assert bool(judge(case_of(run))) == is_found
