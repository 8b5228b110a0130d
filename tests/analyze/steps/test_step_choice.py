"""Which loop is the step loop, on runs built by hand."""

from collections.abc import Callable
from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.model import StepsAnswer
from stepscope.store.format import SpanCategory


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def answer_of(run: RunBuilder, process: ProcessBuilder) -> StepsAnswer:
    process.write()
    return steps(load(run.path))


def loop_of(
    process: ProcessBuilder, loop: int, turns: int, turn: Callable[[int], int], *,
    last: int, at_ns: int = 0, before: int = 1,
) -> int:  # fmt: skip
    """`turn` records what is inside: it is given when that begins and returns when it ends. `last`:
    the last line of the loop; `before`: the one that runs before it. Returns when it ended."""
    for _ in range(turns):
        process.stamp(loop, at_ns, before=before)
        at_ns = turn(at_ns)
        before = last
    process.stamp(loop, at_ns, before=before)
    return at_ns


def nested(
    process: ProcessBuilder, outer: int, inner: int, rounds: int, turns: int, turn_ns: int,
    between_ns: int = 0,
) -> int:  # fmt: skip
    """A loop in a loop of the same function; returns when it ended."""

    def turn(at_ns: int) -> int:
        return process.for_loop(inner, at_ns + 1000, [turn_ns] * turns) + between_ns + 1000

    return loop_of(process, outer, rounds, turn, last=9)


def test_a_flat_loop_at_module_level_is_the_step(run: RunBuilder) -> None:
    process = run.process()
    process.for_loop(process.loop(process.code("<module>", kind="module"), 3, 9), 0, [5 * MS] * 30)
    answer = answer_of(run, process)
    assert answer.steps == 30
    assert answer.anchor == "the loop at train.py:3"


def test_batches_are_the_step_and_not_epochs(run: RunBuilder) -> None:
    process = run.process()
    code = process.code()
    epochs = process.loop(code, 2, 9)
    batches = process.loop(code, 4, 8, epochs)
    nested(process, epochs, batches, rounds=12, turns=50, turn_ns=2 * MS, between_ns=20 * MS)
    process.lines(code, 2, [(13, 0), (12, 0), (612, 0), (600, 1200 * MS)])
    answer = answer_of(run, process)
    assert answer.steps == 600
    assert answer.step_ms is not None
    assert answer.step_ms.mean == pytest.approx(2.0)
    assert answer.step_ms.p90 == pytest.approx(2.0)  # what lies between epochs is not in any step


def test_the_epoch_loop_of_another_function_is_around_its_batches(run: RunBuilder) -> None:
    process = run.process()
    file = process.file()
    epochs = process.loop(process.code("main", file=file), 2, 4)
    batches = process.loop(process.code("train_one_epoch", file=file, first_line=10), 12, 18)

    def epoch(at_ns: int) -> int:
        activation = at_ns + 500
        return process.for_loop(batches, at_ns + 1000, [3 * MS] * 20, activation=activation)

    loop_of(process, epochs, 15, epoch, last=4)
    answer = answer_of(run, process)
    assert answer.steps == 300
    assert answer.anchor == "the loop at train.py:12"


def test_evaluation_between_epochs_is_not_a_step(run: RunBuilder) -> None:
    process = run.process()
    code = process.code()
    epochs, train = process.loop(code, 2, 20), process.loop(code, 4, 8, 1)
    evaluation = process.loop(code, 10, 18, 1)

    def epoch(at_ns: int) -> int:
        at_ns = process.for_loop(train, at_ns + 10, [2 * MS] * 50)
        return process.for_loop(evaluation, at_ns + 10, [2 * MS] * 40)

    loop_of(process, epochs, 12, epoch, last=18)
    answer = answer_of(run, process)
    assert (answer.steps, answer.anchor) == (600, "the loop at train.py:4")


def test_an_evaluation_that_takes_longer_gives_way_to_training(run: RunBuilder) -> None:
    process = run.process()
    file = process.file()
    epochs = process.loop(process.code("main", file=file), 2, 5)
    train = process.loop(process.code("train", file=file), 12, 14)
    evaluation = process.loop(process.code("evaluate", file=file), 22, 24)

    def epoch(at_ns: int) -> int:
        at_ns = process.for_loop(train, at_ns + 10, [2 * MS] * 30, activation=at_ns + 5)
        return process.for_loop(evaluation, at_ns + 10, [2 * MS] * 60, activation=at_ns + 5)

    loop_of(process, epochs, 3, epoch, last=5)
    assert answer_of(run, process).anchor == "the loop at train.py:12"


def test_two_networks_make_one_step(run: RunBuilder) -> None:
    process = run.process()
    code = process.code()
    batches = process.loop(code, 2, 9)
    networks = process.loop(code, 4, 8, batches)
    nested(process, batches, networks, rounds=100, turns=2, turn_ns=3 * MS)
    answer = answer_of(run, process)
    assert (answer.steps, answer.anchor) == (100, "the loop at train.py:2")


def test_the_samples_of_a_batch_make_one_step(run: RunBuilder) -> None:
    process = run.process()
    code = process.code()
    batches = process.loop(code, 2, 9)
    samples = process.loop(code, 4, 8, batches)
    nested(process, batches, samples, rounds=60, turns=32, turn_ns=MS * 3 // 2)
    assert answer_of(run, process).steps == 60


@pytest.mark.parametrize(
    ("header", "turns", "steps"),
    [
        ("for i in range(10)", 10, 300),
        ("for rows in rng.permutation(len(train)).reshape(-1, 96)", 16, 480),
        ("for row in rows", 16, 30),
        ("for lo in range(0, len(train), args.batch)", 3, 90),
        ("for i in range(len(layers) - 1, -1, -1)", 3, 30),
        ("for samples in batch", 16, 30),
    ],
)
def test_what_is_inside_an_epoch_is_its_batches_unless_it_is_parts_of_one(
    run: RunBuilder, header: str, turns: int, steps: int
) -> None:
    text = f"def train():\n  for epoch in range(30):\n    order()\n    {header}:\n" + "x\n" * 9
    process = run.process()
    code = process.code(file=process.file(text=text))
    epochs = process.loop(code, 2, 9)
    batches = process.loop(code, 4, 8, epochs)
    nested(process, epochs, batches, rounds=30, turns=turns, turn_ns=5 * MS)
    assert answer_of(run, process).steps == steps


def test_folds_of_epochs_of_batches_end_in_the_batches(run: RunBuilder) -> None:
    process = run.process()
    code = process.code()
    folds, epochs, batches = (
        process.loop(code, 2, 12),
        process.loop(code, 4, 11, 1),
        process.loop(code, 6, 10, 2),
    )

    def epoch(at_ns: int) -> int:
        return process.for_loop(batches, at_ns + 10, [MS * 2] * 80) + 10

    def fold(at_ns: int) -> int:
        return loop_of(process, epochs, 5, epoch, last=11, at_ns=at_ns + 10, before=3) + 10

    loop_of(process, folds, 10, fold, last=11)
    answer = answer_of(run, process)
    assert (answer.steps, answer.anchor) == (4000, "the loop at train.py:6")


def test_rows_inside_a_step_are_never_the_step(run: RunBuilder) -> None:
    process = run.process()
    code = process.code()
    batches = process.loop(code, 2, 9)
    rows = process.loop(code, 4, 8, batches)
    nested(process, batches, rows, rounds=20, turns=50, turn_ns=100_000)
    assert answer_of(run, process).steps == 20


def test_a_loader_that_is_a_generator_gives_way_to_its_consumer(run: RunBuilder) -> None:
    process = run.process()
    file = process.file()
    train = process.loop(process.code("train", file=file), 2, 9)
    loader = process.loop(process.code("loader", file=file, kind="generator"), 22, 24)
    before, inside = 1, 21
    for turn in range(41):
        at_ns = turn * 5 * MS
        process.stamp(train, at_ns, before=before)
        process.stamp(loader, at_ns + 1000, before=inside, activation=at_ns + 500)
        before, inside = 9, 23
    answer = answer_of(run, process)
    assert (answer.steps, answer.anchor) == (40, "the loop at train.py:2")


def test_a_long_preparation_gives_way_to_the_training_that_follows(run: RunBuilder) -> None:
    process = run.process()
    code = process.code()
    prepare = process.loop(code, 12, 15)
    epochs, batches = process.loop(code, 22, 29), process.loop(code, 24, 28, 2)
    at_ns = process.for_loop(prepare, 0, [3 * MS] * 400)

    def epoch(at_ns: int) -> int:
        return process.for_loop(batches, at_ns + 10, [4 * MS] * 50)

    loop_of(process, epochs, 3, epoch, last=28, at_ns=at_ns, before=20)
    answer = answer_of(run, process)
    assert (answer.steps, answer.anchor) == (150, "the loop at train.py:24")


def test_a_thread_that_loads_does_not_hide_the_main_thread(run: RunBuilder) -> None:
    process = run.process()
    file = process.file()
    train = process.loop(process.code("train", file=file), 2, 9)
    load_loop = process.loop(process.code("prefetch", file=file), 22, 29)
    other = process.thread("loader")
    process.for_loop(train, 0, [5 * MS] * 50)
    process.for_loop(load_loop, 0, [6 * MS] * 60, thread=other)
    assert answer_of(run, process).anchor == "the loop at train.py:2"


def test_a_main_thread_that_only_waits_leaves_the_steps_to_the_thread_that_trains(
    run: RunBuilder,
) -> None:
    text = "def main():\n  while worker.is_alive():\n    time.sleep(0.1)\n"
    process = run.process()
    main = process.code("main", file=process.file(text=text))
    waiting = process.loop(main, 2, 3)
    code = process.code("train", first_line=21)
    train = process.loop(code, 22, 29)
    process.for_loop(waiting, 0, [100 * MS] * 20)
    process.for_loop(train, 0, [10 * MS] * 190, thread=process.thread())
    process.lines(main, 1, [(0, 0), (21, 1000), (20, 2000 * MS)])
    process.lines(code, 21, [(0, 0), (191, 0), (190, 1900 * MS)])
    assert answer_of(run, process).steps == 190


def test_a_loop_inside_its_own_turns_makes_one_step_of_all_of_it(run: RunBuilder) -> None:
    process = run.process()
    loop = process.loop(process.code(), 2, 9)
    process.stamp(loop, 0, before=1, activation=0)
    for turn in range(12):
        at_ns = turn * 10 * MS
        process.for_loop(loop, at_ns + MS, [MS] * 3, activation=at_ns + MS)
        process.stamp(loop, at_ns + 10 * MS, before=9, activation=0)
    assert answer_of(run, process).steps == 12


def test_thinned_code_still_has_its_entries_apart(run: RunBuilder) -> None:
    text = (
        "def train():\n  for epoch in range(5):\n    order()\n    for i in range(40):\n" + "x\n" * 9
    )
    process = run.process()
    code = process.code(file=process.file(text=text))
    epochs, batches = process.loop(code, 2, 9), process.loop(code, 4, 8, 1)
    at_ns = 0
    for _ in range(5):
        process.stamp(epochs, at_ns, before=0)
        for _ in range(41):
            process.stamp(batches, at_ns + 10, before=0)
            at_ns += 2 * MS
        at_ns += 500 * MS  # evaluation
    process.stamp(epochs, at_ns, before=0)
    answer = answer_of(run, process)
    assert answer.steps == 200
    assert answer.step_ms is not None
    assert answer.step_ms.mean == pytest.approx(2.0)


def test_a_header_over_several_lines_makes_no_extra_turn(run: RunBuilder) -> None:
    text = "def f():\n  for x in zip(\n    a,\n    b):\n    work()\n"
    process = run.process()
    loop = process.loop(process.code(file=process.file(text=text)), 2, 9)
    process.stamp(loop, 0, before=1)
    process.stamp(loop, 1000, before=4)
    for turn in range(1, 21):
        process.stamp(loop, 1000 + turn * 2 * MS, before=9)
    assert answer_of(run, process).steps == 20


@pytest.mark.parametrize(("turns", "turn_ns"), [(9, 5 * MS), (500, 500_000)])
def test_too_few_turns_or_too_short_ones_are_no_steps(
    run: RunBuilder, turns: int, turn_ns: int
) -> None:
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [turn_ns] * turns)
    answer = answer_of(run, process)
    assert answer.steps == 0
    assert answer.step_ms is None
    assert answer.reason is not None
    assert "stepscope.step()" in answer.reason


@pytest.mark.parametrize(("options", "expected"), [({}, 0), ({"steps": 12}, 12)])
def test_a_training_that_was_cut_short_after_a_long_set_up_has_its_steps(
    tmp_path: Path, options: dict[str, int], expected: int
) -> None:
    run = RunBuilder(tmp_path / "run", options=options)
    process = run.process()
    process.for_loop(process.loop(process.code(), 3, 9), 1000 * MS, [3 * MS] * 12)
    assert answer_of(run, process).steps == expected


def test_a_short_training_after_long_imports_has_its_steps(run: RunBuilder) -> None:
    process = run.process()
    process.span(SpanCategory.IMPORT, 0, 20_000 * MS, name="tensorflow")
    process.span(SpanCategory.IMPORT, 100 * MS, 15_000 * MS, name="keras")  # inside it
    loop = process.loop(process.code("<module>", kind="module"), 3, 9)
    process.for_loop(loop, 20_100 * MS, [5 * MS] * 30)
    assert answer_of(run, process).steps == 30


def test_short_batches_are_the_step_if_the_header_takes_batches(run: RunBuilder) -> None:
    """948 batches of 0.3 ms in 12 epochs: a small model is trained by batches as well."""
    process = run.process()
    text = "def train():\n    for epoch in range(12):\n" + (
        "        for i in range(0, len(X), 256):\n            W -= gradient(X[i : i + 256])\n"
    )
    code = process.code(file=process.file(text=text))
    epochs = process.loop(code, 2, 4)
    batches = process.loop(code, 3, 4, epochs)

    def turn(at_ns: int) -> int:
        return process.for_loop(batches, at_ns + 1000, [3 * MS // 10] * 79) + 1000

    loop_of(process, epochs, 12, turn, last=4)
    assert answer_of(run, process).steps == 12 * 79


@pytest.mark.parametrize(("header", "expected"), [("for step in range(500)", 500), ("while x", 0)])
def test_short_turns_are_steps_if_the_header_says_so(
    run: RunBuilder, header: str, expected: int
) -> None:
    process = run.process()
    text = f"def train():\n    {header}:\n        update()\n"
    process.for_loop(
        process.loop(process.code(file=process.file(text=text)), 2, 3), 0, [500_000] * 500
    )
    assert answer_of(run, process).steps == expected
