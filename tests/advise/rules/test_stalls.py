"""What counts for a stall is the call's own time: without a core, the thread may stop anywhere."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.model.findings import FindingsAnswer
from stepscope.store.events import Memory
from stepscope.store.format import SpanCategory

STEPS = 60
STALLS = {
    SpanCategory.LOGGING: "logging-stall",
    SpanCategory.CHECKPOINT: "checkpoint-stall",
    SpanCategory.EVALUATION: "evaluation-stall",
}
TEXT = "def train():\n    for batch in loader:\n        update(batch)\n        {}(loss)\n"


def recorded(
    path: Path, *, call_ms: int, delay_ms: int, category: SpanCategory | None
) -> FindingsAnswer:
    """Steps of 10 ms of training and a call of `call_ms` + 0.1 ms, in a phase or in none. In two of
    three, the main thread is ready but has no core for `delay_ms` more, all of it in that call."""
    run = RunBuilder(path)
    process = run.process()
    code = process.code(file=process.file(text=TEXT.format("call" if category else "print")))
    calls_ms = [call_ms + delay_ms * bool(step % 3) for step in range(STEPS)]
    process.for_loop(
        process.loop(code, 2, 4), 0, [(10 + each) * MS + MS // 10 for each in calls_ms]
    )
    train = process.function("train")
    update, call = process.node(train, line=3), process.node(train, line=4)
    at = lost = 0
    for each in calls_ms:
        process.counter(Memory, at, run_delay_ns=lost)
        called, end = at + 10 * MS, at + (10 + each) * MS + MS // 10
        process.span(SpanCategory.FORWARD, at, at + 4 * MS)
        process.span(SpanCategory.BACKWARD, at + 4 * MS, at + 8 * MS)
        process.span(SpanCategory.OPTIMIZER, at + 8 * MS, called)
        if category is not None:
            process.span(category, called, end)
        # The sampler samples in the middle of each ms.
        process.sample(update, at - MS // 2, 10 * MS, count=10)
        if each:
            process.sample(call, called - MS // 2, each * MS, count=each)
        at, lost = end, lost + (each - call_ms) * MS
    process.counter(Memory, at, run_delay_ns=lost)
    process.lines(code, 3, [(STEPS, 10 * MS * STEPS), (STEPS, sum(calls_ms) * MS)])
    process.write()
    return findings(load(run.path))


@pytest.mark.parametrize("category", [None, *STALLS])
def test_a_call_that_only_waits_for_a_core_is_no_stall(
    category: SpanCategory | None, tmp_path: Path
) -> None:
    """Half of the time is spent in it, all of that while another process had the core."""
    answer = recorded(tmp_path / "run", call_ms=0, delay_ms=15, category=category)
    assert answer.findings == []
    assert "the machine was busy" in answer.verdict


@pytest.mark.parametrize("category", STALLS)
def test_a_stall_on_a_busy_machine_is_reported_with_what_is_its_own(
    category: SpanCategory, tmp_path: Path
) -> None:
    """10 of 20 ms are its own; by the clock it is 20 of 30. Some 360 looks are off by 0.05."""
    found = recorded(tmp_path / "run", call_ms=10, delay_ms=15, category=category).findings
    assert [each.id for each in found] == [STALLS[category]]
    assert 0.5 <= found[0].share <= 0.56
    assert found[0].speedup.high is not None
    assert found[0].speedup.low < 2 < found[0].speedup.high
    assert "the machine was busy" in found[0].confidence


@pytest.mark.parametrize("category", STALLS)
def test_a_stall_on_a_quiet_machine_is_all_its_own(category: SpanCategory, tmp_path: Path) -> None:
    found = recorded(tmp_path / "run", call_ms=10, delay_ms=0, category=category).findings
    assert [each.id for each in found] == [STALLS[category]]
    assert found[0].share == pytest.approx(0.5, abs=0.02)
