"""Steps whose passes run in the threads of a pool, on runs built by hand."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.phases.looks import step_time
from stepscope.analyze.run import load
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.model import StepsAnswer
from stepscope.store.format import SpanCategory

TURNS, STEP = 20, 10 * MS


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def member(process: ProcessBuilder, thread: int, at_ns: int, number: int = 1) -> int:
    """One network learns: 1 ms forward, 2 ms backward, 1 ms optimizer. Returns when it is done."""
    forward, backward, update = at_ns, at_ns + MS, at_ns + 3 * MS
    process.span(SpanCategory.FORWARD, forward, backward, name="Net", thread=thread, samples=8)
    process.span(SpanCategory.BACKWARD, backward, update, name="backward", thread=thread)
    process.span(
        SpanCategory.OPTIMIZER, update, update + MS, name="SGD", thread=thread, number=number
    )
    return update + MS


def answer_of(run: RunBuilder, process: ProcessBuilder) -> StepsAnswer:
    process.write()
    return steps(load(run.path))


def ms_of(answer: StepsAnswer) -> dict[str, float]:
    return {share.category: round(share.ms, 1) for share in answer.breakdown or []}


def bagging(process: ProcessBuilder, pool: Sequence[int]) -> None:
    """Each thread of the pool trains a network in every turn of the main thread's loop."""
    process.for_loop(process.loop(process.code(), 2, 9), 0, [STEP] * TURNS)
    for turn in range(TURNS):
        for number, thread in enumerate(pool, start=1):
            member(process, thread, turn * STEP + number * MS, number)


def test_a_step_is_a_turn_of_the_loop_that_hands_it_to_a_pool(run: RunBuilder) -> None:
    process = run.process()
    bagging(process, [process.thread(f"pool_{number}") for number in range(4)])
    answer = answer_of(run, process)
    assert answer.steps == TURNS
    assert answer.anchor == "the loop at train.py:2"
    assert answer.rate is not None
    assert answer.rate.samples_per_s == 800


def test_the_phases_are_those_of_the_thread_that_trains_longest_and_sum_to_the_step(
    run: RunBuilder,
) -> None:
    process = run.process()
    bagging(process, [process.thread(f"pool_{number}") for number in range(4)])
    found = ms_of(answer_of(run, process))
    assert {found[name] for name in ("forward", "optimizer")} == {1.0}
    assert found["backward"] == 2.0
    assert sum(found.values()) == pytest.approx(10.0)


def test_steps_that_asyncio_gives_to_changing_threads_are_all_found(run: RunBuilder) -> None:
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [STEP] * TURNS)
    threads = [process.thread(f"asyncio_{number}") for number in range(3)]
    for turn in range(TURNS):
        member(process, threads[turn % 3], turn * STEP + 2 * MS)
    answer = answer_of(run, process)
    assert answer.steps == TURNS
    assert ms_of(answer)["backward"] == 2.0


def test_a_loop_that_only_looks_after_trainings_is_no_step_loop(run: RunBuilder) -> None:
    """Its turns have any number of updates, and cut some in two."""
    process = run.process()
    process.for_loop(process.loop(process.code("watch"), 2, 4), 0, [15 * MS] * 20)
    thread = process.thread()
    for turn in range(50):
        member(process, thread, turn * 6 * MS)
    answer = answer_of(run, process)
    assert answer.steps == 50
    assert answer.anchor == "SGD.step()"


def test_a_training_with_a_loop_of_its_own_in_a_thread_keeps_it(run: RunBuilder) -> None:
    """The main thread's loop starts an epoch in a thread each time."""
    process = run.process()
    thread = process.thread()
    epochs = process.loop(process.code("main"), 2, 4)
    batches = process.loop(process.code("epoch"), 12, 14)
    process.for_loop(epochs, 0, [50 * MS] * 12)
    for epoch in range(12):
        at = epoch * 50 * MS + MS
        process.for_loop(batches, at, [9 * MS] * 5, thread=thread, activation=at)
        for turn in range(5):
            member(process, thread, at + turn * 9 * MS + MS)
    assert answer_of(run, process).steps == 60


def test_looks_are_those_of_the_thread_that_has_the_step(run: RunBuilder) -> None:
    process = run.process()
    pool = process.thread("pool_0")
    process.for_loop(process.loop(process.code(), 2, 9), 0, [STEP] * TURNS)
    at_main = process.node(process.function("wait", file="/usr/lib/threading.py"))
    at_pool = process.node(process.function("learn", line=20), line=22)
    for turn in range(TURNS):
        member(process, pool, turn * STEP + 3 * MS)
        for node, thread in ((at_main, 1), (at_pool, pool)):
            process.sample(node, turn * STEP + 3 * MS, 2 * MS, thread=thread)
    process.write()
    loaded = load(run.path)
    assert loaded.main is not None
    seen = step_time(loaded.main, find_steps(loaded, loaded.main))
    assert {look.frames[-1].function.name for look in seen.looks} == {"learn"}
