"""What a stall takes is the call's own time: without a core, the thread stood still anywhere."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.model.findings import FindingsAnswer
from stepscope.store.format import EventKind, SpanCategory

STEPS = 60
STALLS = {
    SpanCategory.LOGGING: "logging-stall",
    SpanCategory.CHECKPOINT: "checkpoint-stall",
    SpanCategory.EVALUATION: "evaluation-stall",
}
TEXT = "def train():\n    for batch in loader:\n        update(batch)\n        {}(loss)\n"


def recorded(
    path: Path, call_ms: int, delay_ms: int, category: SpanCategory | None
) -> FindingsAnswer:
    """Steps of 10 ms of training and a call, on its own or in a phase. The main thread is ready but
    has no core for `delay_ms` of each step."""
    run = RunBuilder(path)
    process = run.process()
    code = process.code(file=process.file(text=TEXT.format("call" if category else "print")))
    step_ns = (10 + call_ms) * MS
    process.for_loop(process.loop(code, 2, 4), 0, [step_ns] * STEPS)
    train = process.function("train")
    update, call = process.node(train, line=3), process.node(train, line=4)
    for step in range(STEPS + 1):
        process.counter(EventKind.MEMORY, step * step_ns, 2**20, 2**20, step * delay_ms * MS)
    for at in range(0, STEPS * step_ns, step_ns):
        called = at + 10 * MS
        process.span(SpanCategory.FORWARD, at, at + 4 * MS)
        process.span(SpanCategory.BACKWARD, at + 4 * MS, at + 8 * MS)
        process.span(SpanCategory.OPTIMIZER, at + 8 * MS, called)
        if category is not None:
            process.span(category, called, at + step_ns)
        # The sampler looks in the middle of each ms.
        process.sample(update, at - MS // 2, 10 * MS, count=10)
        process.sample(call, called - MS // 2, call_ms * MS, count=call_ms)
    process.lines(code, 3, [(STEPS, 10 * MS * STEPS), (STEPS, call_ms * MS * STEPS)])
    process.write()
    return findings(load(run.path))


@pytest.mark.parametrize("category", [None, *STALLS])
def test_a_call_that_only_waits_for_a_core_is_no_stall(
    category: SpanCategory | None, tmp_path: Path
) -> None:
    """In all of its 8 ms another process may have had the core."""
    answer = recorded(tmp_path / "run", call_ms=8, delay_ms=8, category=category)
    assert answer.findings == []
    assert "the machine was busy" in answer.verdict


@pytest.mark.parametrize("category", STALLS)
def test_a_stall_on_a_busy_machine_is_told_with_what_is_surely_its_own(
    category: SpanCategory, tmp_path: Path
) -> None:
    """20 of 30 ms, and no core in 6: at least 14 of the 24 that the step had one."""
    found = recorded(tmp_path / "run", call_ms=20, delay_ms=6, category=category).findings
    assert [each.id for each in found] == [STALLS[category]]
    assert found[0].share == pytest.approx(14 / 24, abs=0.02)
    assert found[0].speedup.low < 3 < found[0].speedup.high  # 30 / 10, if the delay was elsewhere


@pytest.mark.parametrize("category", STALLS)
def test_a_stall_on_a_quiet_machine_is_all_its_own(category: SpanCategory, tmp_path: Path) -> None:
    found = recorded(tmp_path / "run", call_ms=10, delay_ms=0, category=category).findings
    assert [each.id for each in found] == [STALLS[category]]
    assert found[0].share == pytest.approx(0.5, abs=0.02)
