"""Work that the steps hand to a pool of processes, and wait for."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.python_hot_loop import judge
from stepscope.analyze.run import load

STEPS, STEP = 60, 20 * MS
POOL = "/usr/lib/python3.11/multiprocessing/pool.py"
PROGRAM = """from multiprocessing import Pool
def fit(xs):
    total = 0
    for x in xs:
        total += x * x
    return total
with Pool(2) as pool:
    for step in range(60):
        pool.map(fit, jobs)
"""


def judged(path: Path, *, pooled: str) -> list[Candidate]:
    """Steps of 20 ms wait for two workers, which work 15 ms in each, 9 of them in a loop."""
    run = RunBuilder(path)
    main = run.process()
    file = main.file(text=PROGRAM)
    code = main.code("<module>", file=file, kind="module")
    main.lines(code, 8, [(STEPS, 0), (STEPS, STEP * STEPS)])
    main.for_loop(main.loop(code, 8, 9), 0, [STEP] * STEPS)
    module = main.node(main.function("<module>"), 0, 9)
    waits = main.node(main.function("Pool.map", file=POOL, line=360), module, 367)
    for at in range(0, STEPS * STEP, STEP):
        main.sample(waits, at, STEP - 1, count=20)
    main.write()
    for pid in (101, 102):
        worker = run.process(pid=pid, role="worker", parent_pid=100)
        fit = worker.code("fit", file=worker.file(text=PROGRAM), first_line=2)
        turns = 100 * STEPS
        entries = [(STEPS, 0), (turns, 0), (turns, 9 * MS * STEPS), (STEPS, 6 * MS * STEPS)]
        worker.lines(fit, 3, entries, calls=STEPS)
        begins = worker.node(worker.function("worker", file=pooled, line=97), 0, 125)
        inside = worker.node(worker.function("fit", line=2), begins, 5)
        for at in range(0, STEPS * STEP, STEP):
            worker.sample(inside, at, 15 * MS, count=15)
        worker.write()
    loaded = load(run.path)
    assert loaded.main is not None
    return judge(Case(loaded, loaded.main))


def test_a_loop_in_what_a_pool_runs_is_reported_with_its_part_of_the_wait(tmp_path: Path) -> None:
    (found,) = judged(tmp_path / "run", pooled=POOL)
    assert found.location is not None
    assert found.location.function == "fit"
    assert found.share == pytest.approx(9 / 15, rel=0.02)
    assert found.saving.expected <= 9 / 15 * STEP


def test_what_other_children_run_is_not_what_the_steps_wait_for(tmp_path: Path) -> None:
    assert judged(tmp_path / "run", pooled="/me/server.py") == []
