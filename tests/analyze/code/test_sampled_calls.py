"""What samples say about calls: who called whom, and in which step."""

from pathlib import Path

import numpy as np
import pytest

from build import BOOT_NS, MS, ProcessBuilder, RunBuilder
from stepscope.analyze.code.functions import functions
from stepscope.analyze.run import load
from stepscope.analyze.timeline.run_timeline import run_timeline
from stepscope.model import FunctionRow

STEPS = 10


@pytest.fixture
def process(tmp_path: Path) -> ProcessBuilder:
    return RunBuilder(tmp_path / "run").process()


def rows(process: ProcessBuilder) -> dict[str, FunctionRow]:
    process.write()
    return {row.function: row for row in functions(load(process.run.path)).functions}


def test_without_calls_callers_and_callees_come_from_the_samples(process: ProcessBuilder) -> None:
    main, load_, read = (process.function(name) for name in ("main", "load", "read"))
    outer = process.node(main)
    middle = process.node(load_, outer)
    process.sample(process.node(read, middle), 0, 30 * MS)
    process.sample(middle, 30 * MS, 10 * MS)
    process.sample(process.node(read, outer), 40 * MS, 5 * MS)
    found = rows(process)
    callers = [(each.function, each.cumtime_ns, each.ncalls) for each in found["read"].callers]
    assert callers == [("load", 30 * MS, None), ("main", 5 * MS, None)]
    (callee,) = found["load"].callees
    assert (callee.function, callee.tottime_ns, callee.cumtime_ns) == ("read", 30 * MS, 30 * MS)
    (called,) = found["load"].callers
    assert (called.tottime_ns, called.cumtime_ns) == (10 * MS, 40 * MS)
    assert found["main"].callers == []


def test_a_function_that_calls_itself_counts_once_in_a_stack(process: ProcessBuilder) -> None:
    grow = process.function("grow")
    node = process.node(grow, process.node(grow, process.node(grow)))
    process.sample(node, 0, 10 * MS)
    (caller,) = rows(process)["grow"].callers
    assert (caller.function, caller.tottime_ns, caller.cumtime_ns) == ("grow", 10 * MS, 10 * MS)


# --- on the timeline ------------------------------------------------------------------------------


def drawn(process: ProcessBuilder) -> list[tuple[str, float, float]]:
    """Calls of the timeline: name, start and end in ms of the recording."""
    process.write()
    timeline = run_timeline(load(process.run.path)).whole()
    lane = next(lane for lane in timeline.lanes if lane.kind == "stack")
    start = np.cumsum(lane.start) - BOOT_NS
    spans = zip(lane.name, start.tolist(), lane.lasted, strict=True)
    return [(timeline.names[n], at / MS, (at + lasted) / MS) for n, at, lasted in spans]


def trained(process: ProcessBuilder, step_ms: int, inner_calls: int) -> tuple[int, int]:
    """Steps in a loop of `train`, which calls `net`. Returns the nodes of both."""
    file = process.file()
    outer = process.code("train", file=file, first_line=1)
    inner = process.code("net", file=file, first_line=20)
    process.for_loop(process.loop(outer, 2, 9), 0, [step_ms * MS] * STEPS)
    process.lines(outer, 1, [(1, STEPS * step_ms * MS)], calls=1)
    process.lines(inner, 20, [(inner_calls, MS)], calls=inner_calls)
    node = process.node(process.function("train", line=1))
    return node, process.node(process.function("net", line=20), node)


def test_a_call_of_each_step_is_not_drawn_over_several(process: ProcessBuilder) -> None:
    """The sampler sees `net` in every step, and never between two."""
    _, net = trained(process, 10, inner_calls=STEPS)
    for turn in range(STEPS):
        process.sample(net, turn * 10 * MS, 10 * MS)
    found = drawn(process)
    assert [each for each in found if each[0] == "train"] == [("train", 0, 100)]
    calls = [each[1:] for each in found if each[0] == "net"]
    assert calls == [(10 * turn, 10 * turn + 10) for turn in range(STEPS)]


def test_a_look_after_several_short_steps_says_something_about_the_last(
    process: ProcessBuilder,
) -> None:
    _, net = trained(process, 2, inner_calls=STEPS)
    process.sample(net, 0, 9 * MS)
    process.sample(net, 9 * MS, 9 * MS)
    found = drawn(process)
    assert [each[1:] for each in found if each[0] == "net"] == [(8, 9), (16, 18)]
    assert [each for each in found if each[0] == "train"] == [("train", 0, 18)]


def test_a_call_within_a_step_goes_on_from_look_to_look(process: ProcessBuilder) -> None:
    train, net = trained(process, 40, inner_calls=STEPS)
    for number in range(3):
        process.sample(net, number * 10 * MS, 10 * MS)
    process.sample(train, 30 * MS, 10 * MS)
    assert [each[1:] for each in drawn(process) if each[0] == "net"] == [(0, 30)]
