"""One number has one source: all views of runs built by hand say what can be counted on fingers."""

from pathlib import Path

import pytest

from agreement import disagreements
from build import MS, ProcessBuilder, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.answers.headline import most_of_each_step
from stepscope.analyze.answers.input import input as input_of
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.model.rare import of_steps
from stepscope.store.events import Memory
from stepscope.store.format import SpanCategory
from stepscope.store.reader import Run

STEPS = 60
NUMPY = """def train():
    for batch in batches:
        update(batch)
        {}
def update(batch):
    weights[:] = weights - gradient(batch)
def evaluate(weights):
    return score(weights)
"""


def shares(run: Run) -> dict[str, float]:
    return {each.category: each.share for each in steps(run).breakdown or []}


# --- what few steps do ----------------------------------------------------------------------------


def now_and_then(path: Path, category: SpanCategory, times: int) -> Run:
    """Steps of 10 ms; so many of them have 300 ms more of this."""
    process = RunBuilder(path).process()
    with_it = {20 + 15 * number for number in range(times)}
    turns = [(310 if step in with_it else 10) * MS for step in range(STEPS)]
    process.for_loop(process.loop(process.code(), 2, 9), 0, turns)
    at = 0
    for step, lasted in enumerate(turns):
        process.span(SpanCategory.FORWARD, at, at + 4 * MS)
        process.span(SpanCategory.BACKWARD, at + 4 * MS, at + 8 * MS)
        process.span(SpanCategory.OPTIMIZER, at + 8 * MS, at + 9 * MS, number=8)
        if step in with_it:
            process.span(category, at + 9 * MS, at + 309 * MS, name="it")
        at += lasted
    process.write()
    return load(path)


@pytest.mark.parametrize(
    ("category", "finding", "goes_to", "words"),
    [
        (SpanCategory.EVALUATION, "evaluation-stall", "evaluating", "evaluation"),
        (SpanCategory.CHECKPOINT, "checkpoint-stall", "saving", "saving checkpoints"),
        (SpanCategory.LOGGING, "logging-stall", "logging", "logging"),
        (SpanCategory.COMPILE, "recompilation", "recompiling", "compiling"),
    ],
)
def test_what_two_steps_do_is_not_said_of_each_step(
    category: SpanCategory, finding: str, goes_to: str, words: str, tmp_path: Path
) -> None:
    """In the verdict, the finding, the breakdown and the sentence below it."""
    run = now_and_then(tmp_path / "run", category, times=3)
    answer, measured = findings(run), steps(run).measured
    name = category.name.lower()
    share = shares(run)[name]
    assert share == pytest.approx(900 / (10 * (measured or 0) + 900), abs=0.001)
    assert answer.findings[0].id == finding
    begins = f"{100 * share:.0f} % of step time, in 3 of {measured} steps, goes to {goes_to}"
    assert answer.verdict.startswith(begins)
    assert f"in 3 of {measured} steps" in answer.findings[0].title
    assert next(each.steps for each in steps(run).breakdown or [] if each.category == name) == 3
    most = f"Most of step time, in 3 of {measured} steps, goes to {words}"
    assert most_of_each_step(steps(run)) == most
    assert not disagreements(tmp_path / "run")


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (157, "step time"),
        (142, "step time"),
        (None, "step time"),
        (141, "step time, in 141 of 157 steps"),
        (2, "step time, in 2 of 157 steps"),
    ],
)
def test_a_share_that_only_some_steps_have_says_how_many(count: int | None, words: str) -> None:
    assert of_steps(count, 157) == words


# --- all that a function does to save -------------------------------------------------------------


def saving(path: Path) -> Run:
    """Steps of 13 ms of training; each third also spends 6 ms in torch.save and 9 around it."""
    process = RunBuilder(path).process()
    code = process.code("train")
    turns = [(13 + 15 * (step % 3 == 0)) * MS for step in range(STEPS)]
    process.for_loop(process.loop(code, 2, 9), 0, turns)
    train, save = process.function("train", line=1), process.function("save", line=20)
    trains = process.node(train, line=3)
    collects, writes = (process.node(save, process.node(train, line=4), at) for at in (21, 22))
    at = 0
    for step, lasted in enumerate(turns):
        process.span(SpanCategory.FORWARD, at, at + 6 * MS)
        process.span(SpanCategory.BACKWARD, at + 6 * MS, at + 12 * MS)
        process.span(SpanCategory.OPTIMIZER, at + 12 * MS, at + 13 * MS, number=8)
        process.sample(trains, at - MS // 2, 13 * MS, count=13)
        if step % 3 == 0:
            process.span(SpanCategory.CHECKPOINT, at + 22 * MS, at + 28 * MS, name="torch.save")
            process.sample(collects, at + 13 * MS - MS // 2, 9 * MS, count=9)
            process.sample(writes, at + 22 * MS - MS // 2, 6 * MS, count=6)
        at += lasted
    process.write()
    return load(path)


def test_what_a_function_does_around_saving_is_saving(tmp_path: Path) -> None:
    run = saving(tmp_path / "run")
    (row,) = (each for each in steps(run).breakdown or [] if each.category == "checkpoint")
    assert row.share == pytest.approx(5 / 18, abs=0.01)
    assert row.steps == pytest.approx((steps(run).measured or 0) / 3, abs=1)
    assert [each.id for each in findings(run).findings] == ["checkpoint-stall"]
    assert not disagreements(tmp_path / "run")


# --- without a framework --------------------------------------------------------------------------


def in_numpy(path: Path, call: str, *, inside: str | None, ms: int, every: int = 1) -> Run:
    """Steps of 10 ms, every N-th with a call of `ms` more, in a function or in the loop itself."""
    process = RunBuilder(path).process()
    file = process.file(text=NUMPY.format(call))
    codes = {
        name: process.code(name, file=file, first_line=first)
        for name, first in (("train", 1), ("update", 5), ("evaluate", 7))
    }
    turns = [(10 + ms * (step % every == 0)) * MS for step in range(STEPS)]
    process.for_loop(process.loop(codes["train"], 2, 4), 0, turns)
    _sampled(process, inside, ms, every, turns)
    calls = len(range(0, STEPS, every))
    process.lines(codes["train"], 3, [(STEPS, 10 * MS * STEPS), (calls, ms * MS * calls)])
    process.lines(codes["update"], 6, [(STEPS, 10 * MS * STEPS)])
    process.write()
    return load(path)


def _sampled(
    process: ProcessBuilder, inside: str | None, ms: int, every: int, turns: list[int]
) -> None:
    train = process.function("train", line=1)
    update = process.node(process.function("update", line=5), process.node(train, line=3), 6)
    called = process.node(train, line=4)
    if inside is not None:
        called = process.node(process.function(inside, line=7), called, 8)
    at = 0
    for step, lasted in enumerate(turns):
        process.sample(update, at, 10 * MS, count=10)
        if step % every == 0:
            process.sample(called, at + 10 * MS, ms * MS, count=ms)
        at += lasted


@pytest.mark.parametrize(
    ("call", "inside", "category", "id"),
    [
        ("print(batch)", None, "logging", "logging-stall"),
        ("logger.info(batch)", None, "logging", "logging-stall"),
        ("history.append(evaluate(weights))", "evaluate", "evaluation", "evaluation-stall"),
    ],
)
def test_without_a_framework_what_is_blamed_has_a_row(
    call: str, inside: str | None, category: str, id: str, tmp_path: Path
) -> None:
    run = in_numpy(tmp_path / "run", call, inside=inside, ms=10)
    assert shares(run)[category] == pytest.approx(0.5, abs=0.03)
    assert [each.id for each in findings(run).findings] == [id]
    assert not disagreements(tmp_path / "run")


def test_an_evaluation_that_the_training_needs_is_training(tmp_path: Path) -> None:
    """As the fitness of a population is."""
    call = "weights = bred(weights, evaluate(weights))"
    run = in_numpy(tmp_path / "run", call, inside="evaluate", ms=30)
    assert "evaluation" not in shares(run)
    assert not disagreements(tmp_path / "run")


def test_what_is_printed_in_every_sixth_step_is_in_every_sixth_step(tmp_path: Path) -> None:
    run = in_numpy(tmp_path / "run", "print(batch)", inside=None, ms=40, every=6)
    (row,) = (each for each in steps(run).breakdown or [] if each.category == "logging")
    assert row.steps == pytest.approx((steps(run).measured or 0) / 6, abs=1)
    assert not disagreements(tmp_path / "run")


def test_a_training_inside_a_test_is_not_an_evaluation(tmp_path: Path) -> None:
    process = RunBuilder(tmp_path / "run").process()
    text = "def test_training():\n    for batch in batches:\n        update(batch)\n"
    code = process.code("test_training", file=process.file(text=text))
    process.for_loop(process.loop(code, 2, 3), 0, [10 * MS] * STEPS)
    node = process.node(process.function("test_training", line=1), line=3)
    for step in range(STEPS):
        process.sample(node, 10 * step * MS, 10 * MS, count=10)
    process.write()
    assert "evaluation" not in shares(load(tmp_path / "run"))


# --- input and cores ------------------------------------------------------------------------------


def loading(path: Path, *, lost_ms: int = 0, slow_ms: int = 0) -> Run:
    """Steps of 20 ms wait 8 ms for their batch. In every second one, the thread has no core for
    `lost_ms` of that. Steps 30 and 47 wait `slow_ms` more."""
    process = RunBuilder(path).process()
    at, lost = 0, 0
    process.step(0, begins=True)
    for step in range(STEPS):
        process.counter(Memory, at, run_delay_ns=lost)
        more = lost_ms * MS * (step % 2) + slow_ms * MS * (step in (30, 47))
        ready = at + 8 * MS + more
        process.span(
            SpanCategory.INPUT, at, ready, name="batch", samples=8, loader=1, loader_workers=0
        )
        process.span(SpanCategory.FORWARD, ready, ready + 11 * MS)
        at, lost = ready + 12 * MS, lost + lost_ms * MS * (step % 2)
        process.step(at)
    process.counter(Memory, at, run_delay_ns=lost)
    process.write()
    return load(path)


def test_input_is_what_steps_usually_wait(tmp_path: Path) -> None:
    run = loading(tmp_path / "run", slow_ms=200)
    loader = input_of(run).loader
    assert loader is not None
    assert loader.wait_ms == pytest.approx(8, abs=0.01)
    assert loader.share == pytest.approx(shares(run)["input"])
    assert loader.longest_ms == pytest.approx(208, abs=0.01)
    assert not disagreements(tmp_path / "run")


def test_time_without_a_core_does_not_change_what_the_breakdown_says(tmp_path: Path) -> None:
    """10 ms in every second step, while it waits: by the clock, 13 of 25 ms are input."""
    quiet, busy = loading(tmp_path / "quiet"), loading(tmp_path / "run", lost_ms=10)
    assert shares(quiet)["input"] == pytest.approx(0.4, abs=0.01)
    assert shares(busy)["input"] == pytest.approx(shares(quiet)["input"], abs=0.01)
    assert steps(quiet).without_core is None
    assert steps(busy).without_core == pytest.approx(0.2, abs=0.01)
    assert any("for 20 % of the time" in note for note in steps(busy).notes)
    assert not disagreements(tmp_path / "run")
