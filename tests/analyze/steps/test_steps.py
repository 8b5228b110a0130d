"""Steps: how many, how long, what is measured, and categories that sum to the step."""

from pathlib import Path

import msgspec
import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.model import StepsAnswer
from stepscope.store.events import Costs
from stepscope.store.format import SpanCategory


@pytest.fixture
def run(tmp_path: Path) -> RunBuilder:
    return RunBuilder(tmp_path / "run")


def shares_of(answer: StepsAnswer) -> dict[str, float]:
    assert answer.breakdown is not None
    return {share.category: share.ms for share in answer.breakdown}


def trained(run: RunBuilder, turns: list[int], **fields: object) -> ProcessBuilder:
    process = run.process(**fields)  # type: ignore[arg-type]  # pid and the others
    process.for_loop(process.loop(process.code(), 2, 9), 0, turns)
    return process


def test_warm_up_ends_when_times_have_settled(run: RunBuilder) -> None:
    trained(run, [50 * MS] * 9 + [5 * MS] * 91).write()
    answer = steps(load(run.path))
    assert (answer.steps, answer.warmup, answer.measured) == (100, 9, 91)
    assert answer.step_ms is not None
    assert answer.step_ms.mean == pytest.approx(5.0)


def test_at_least_five_steps_are_warm_up_where_there_are_enough(run: RunBuilder) -> None:
    trained(run, [5 * MS] * 20).write()
    assert steps(load(run.path)).warmup == 5


def test_a_short_run_loses_only_its_slow_start(run: RunBuilder) -> None:
    trained(run, [50 * MS] + [5 * MS] * 11).write()
    assert steps(load(run.path)).warmup == 1


def test_steps_that_get_slower_all_the_time_are_no_warm_up(run: RunBuilder) -> None:
    trained(run, [(5 + turn) * MS for turn in range(60)]).write()
    assert steps(load(run.path)).warmup == 5


def test_warm_up_includes_the_first_compilation(run: RunBuilder) -> None:
    process = trained(run, [5 * MS] * 40)
    process.span(SpanCategory.COMPILE, 36 * MS, 38 * MS)
    process.write()
    assert steps(load(run.path)).warmup == 8


def test_categories_are_exclusive_and_sum_to_the_step(run: RunBuilder) -> None:
    process = trained(run, [10 * MS] * 40)
    for turn in range(40):
        at_ns = turn * 10 * MS
        process.span(SpanCategory.INPUT, at_ns, at_ns + 6 * MS)
        process.span(SpanCategory.TRANSFER, at_ns + MS, at_ns + 3 * MS)
        process.span(SpanCategory.GC, at_ns + 2 * MS, at_ns + 3 * MS)
        process.span(SpanCategory.REGION, at_ns, at_ns + 9 * MS, name="all")
    process.write()
    answer = steps(load(run.path), each=True)
    shares = shares_of(answer)
    assert shares == pytest.approx(
        {"input": 4.0, "transfer": 1.0, "gc": 1.0, "files": 0, "profiler": 0, "python": 4.0}
    )
    assert answer.step_ms is not None
    assert sum(shares.values()) == pytest.approx(answer.step_ms.mean, abs=1e-12)
    assert answer.bound == "host"
    assert answer.each is not msgspec.UNSET
    assert all(sum(step.phases.values()) == step.duration_ns for step in answer.each)


def test_waiting_for_input_most_of_the_time_is_input_bound(run: RunBuilder) -> None:
    process = trained(run, [10 * MS] * 20)
    for turn in range(20):
        process.span(SpanCategory.INPUT, turn * 10 * MS, turn * 10 * MS + 6 * MS)
    process.write()
    assert steps(load(run.path)).bound == "input"


def test_a_span_across_steps_is_cut_at_their_boundaries(run: RunBuilder) -> None:
    process = trained(run, [10 * MS] * 20)
    process.span(SpanCategory.CHECKPOINT, 105 * MS, 125 * MS)
    process.write()
    answer = steps(load(run.path), each=True)
    assert answer.each is not msgspec.UNSET
    saved = [step.phases["checkpoint"] for step in answer.each]
    assert saved[10:13] == [5 * MS, 10 * MS, 5 * MS]
    assert sum(saved) == 20 * MS


def test_files_are_the_activations_that_opened_them(run: RunBuilder) -> None:
    process = trained(run, [10 * MS] * 30)
    code = process.code("get_dataset")
    name = process.name("open", path="/data/mnist.npz", code=code, line=31)
    for turn in range(30):
        at_ns = turn * 10 * MS + MS
        process.opened(name, at_ns, at_ns + 7 * MS)
        process.opened(name, at_ns, at_ns + 7 * MS, at_ns=at_ns + MS)
    process.write()
    assert shares_of(steps(load(run.path)))["files"] == pytest.approx(7.0)


def test_an_activation_around_steps_costs_its_line_instead(run: RunBuilder) -> None:
    process = run.process()
    code = process.code()
    process.for_loop(process.loop(code, 2, 9), 0, [10 * MS] * 30)
    name = process.name("open", path="/data/mnist.npz", code=code, line=3)
    for turn in range(30):
        process.opened(name, 0, 300 * MS, at_ns=turn * 10 * MS + 5)
    process.lines(code, 1, [(1, 0), (31, 0), (30, 60 * MS)])
    process.write()
    assert shares_of(steps(load(run.path)))["files"] == pytest.approx(2.0)


def test_a_training_function_that_writes_a_log_is_not_all_logging(run: RunBuilder) -> None:
    process = trained(run, [10 * MS] * 30)
    code = process.code("train_step", first_line=40)
    name = process.name("open", path="/tmp/loss.csv", code=code, line=42)
    for turn in range(30):
        at_ns = turn * 10 * MS
        process.opened(name, at_ns + 10, at_ns + 9 * MS, writing=True)
    process.lines(code, 40, [(30, 0), (30, 200 * MS), (30, 15 * MS)])
    process.write()
    assert shares_of(steps(load(run.path)))["logging"] == pytest.approx(0.5)


def test_what_recording_costs_is_counted_over_the_measured_steps(run: RunBuilder) -> None:
    process = trained(run, [10 * MS] * 40, event_cost_ticks=20.0, exit_cost_ticks=10.0)
    process.counter(Costs, 0)
    # A costly start does not count.
    process.counter(Costs, 50 * MS, slow_ticks=40 * MS, line_events=10**9)
    process.counter(
        Costs, 400 * MS, slow_ticks=40 * MS + 350_000, line_events=10**9 + 70_000,
        exit_events=35_000,
    )  # fmt: skip
    process.write()
    answer = steps(load(run.path))
    # 0.35 ms of slow paths, 1.4 ms of lines and 0.35 ms of exits in 350 ms
    assert answer.overhead is not None
    assert answer.overhead.share == pytest.approx(0.006)
    assert shares_of(answer)["profiler"] == pytest.approx(0.06)
    assert shares_of(answer)["python"] == pytest.approx(9.94)


def test_without_counters_the_cost_is_that_of_the_whole_recording(run: RunBuilder) -> None:
    process = trained(run, [10 * MS] * 40, event_cost_ticks=20.0, exit_cost_ticks=10.0)
    process.lines(process.code("inner"), 1, [(100_000, 0)], exits=200_000, flags=1)
    process.write()
    cost = steps(load(run.path)).overhead
    assert cost is not None
    assert cost.share == pytest.approx(0.01)
    assert cost.thinned == ["train.py:inner"]
    assert cost.budget == 0.03


def test_a_turn_that_was_left_counts_but_is_not_measured(run: RunBuilder) -> None:
    process = run.process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [10 * MS] * 30, runs_out=False)
    process.write()
    answer = steps(load(run.path))
    assert (answer.steps, answer.warmup, answer.measured) == (30, 5, 24)


def test_a_turn_that_was_killed_does_not_count(run: RunBuilder) -> None:
    process = run.process(status="running")
    process.for_loop(process.loop(process.code(), 2, 9), 0, [10 * MS] * 30, runs_out=False)
    process.write()
    run.supervisor(ended_ns=299 * MS, signal="SIGKILL")
    assert steps(load(run.path)).steps == 29


def test_time_after_the_last_turn_of_a_for_is_no_turn(run: RunBuilder) -> None:
    process = run.process()
    code = process.code()
    process.for_loop(process.loop(code, 2, 9), 0, [10 * MS] * 30)
    process.lines(code, 1, [(1, 0), (31, 0), (30, 300 * MS)])
    process.write(ended_ns=900 * MS)
    assert steps(load(run.path)).steps == 30


def test_marks_come_before_loops(run: RunBuilder) -> None:
    process = trained(run, [10 * MS] * 40)
    for turn in range(40):
        if turn % 2:
            process.step(turn * 10 * MS + 9 * MS, samples=64)
    process.write()
    answer = steps(load(run.path))
    assert answer.anchor == "stepscope.step()"
    assert answer.steps == 20
    assert answer.rate is not None
    assert answer.rate.samples_per_s == pytest.approx(64 / 0.020)


def test_a_marked_step_begins_where_its_loop_was_entered(run: RunBuilder) -> None:
    process = run.process()
    loop = process.loop(process.code(), 2, 9)
    for epoch in range(3):
        at_ns = epoch * 1000 * MS
        process.for_loop(loop, at_ns, [10 * MS] * 20)
        for turn in range(20):
            process.step(at_ns + turn * 10 * MS + 9 * MS)
    process.write()
    answer = steps(load(run.path), each=True)
    assert answer.steps == 60
    assert answer.each is not msgspec.UNSET
    assert {step.duration_ns for step in answer.each} == {9 * MS, 10 * MS}


def test_marks_with_a_beginning_need_no_loop(run: RunBuilder) -> None:
    process = run.process()
    for epoch in range(2):
        process.step(epoch * 1000 * MS, begins=True)
        for turn in range(1, 16):
            process.step(epoch * 1000 * MS + turn * 10 * MS)
    process.write()
    answer = steps(load(run.path), each=True)
    assert answer.each is not msgspec.UNSET
    assert [step.duration_ns for step in answer.each] == [10 * MS] * 30


def test_a_counter_is_converted_with_the_clock_triples(run: RunBuilder) -> None:
    trained(run, [10 * MS] * 40, ticks_per_ns=3).write()
    answer = steps(load(run.path))
    assert answer.step_ms is not None
    assert answer.step_ms.mean == pytest.approx(10.0)


def test_a_run_without_steps_says_why(run: RunBuilder) -> None:
    run.process().write(ended_ns=5 * MS)
    fields = msgspec.to_builtins(steps(load(run.path)))
    assert fields["steps"] == 0
    assert fields["reason"].startswith("No steps found")
    assert fields["breakdown"] is None
    assert "each" not in fields


def test_another_rank_can_be_asked_for(run: RunBuilder) -> None:
    for rank in range(2):
        process = trained(run, [(5 + rank) * MS] * 30, pid=10 + rank, role="rank", rank=rank)
        process.write()
    loaded = load(run.path)
    means = [steps(loaded, rank=rank).step_ms for rank in range(2)]
    assert [spread and spread.mean for spread in means] == pytest.approx([5.0, 6.0])
    assert steps(loaded).step_ms == means[0]
    assert steps(loaded, process=11).step_ms == means[1]


def test_the_recordings_cost_is_one_number_in_breakdown_and_footer(run: RunBuilder) -> None:
    """Phases claim 9.8 of each step's 10 ms; line events cost 1 ms of it, and a span 0.5."""
    process = trained(run, [10 * MS] * 40, event_cost_ticks=100.0)
    for turn in range(40):
        at_ns = turn * 10 * MS
        process.span(SpanCategory.INPUT, at_ns, at_ns + 4 * MS)
        process.span(SpanCategory.FORWARD, at_ns + 4 * MS, at_ns + 9_800_000)
        process.span(SpanCategory.PROFILER, at_ns + 5 * MS, at_ns + 5_500_000)
    for at_ms in (0, 400):
        process.counter(Costs, at_ms * MS, line_events=at_ms * 1_000)
    process.write()
    answer = steps(load(run.path), each=True)
    assert answer.overhead is not None
    assert answer.overhead.share == pytest.approx(0.15)
    assert shares_of(answer)["profiler"] == pytest.approx(1.5)
    assert isinstance(answer.each, list)
    assert all(sum(step.phases.values()) == step.duration_ns for step in answer.each)
