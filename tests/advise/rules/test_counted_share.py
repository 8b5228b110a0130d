"""What counted lines say of a share that was sampled."""

from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.advise.rules.counted_share import counted_share
from stepscope.analyze.code.sampled_steps import Frame, Look, StepTime
from stepscope.store.records import FunctionName

FILE = "train.py"
STEPS = 200
STEP_NS = 10e6


def look(line: int, ns: float) -> Look:
    function = FunctionName(id=1, file=FILE, line=1, name="forward")
    return Look("forward", (Frame(function, line, True),), ns)


def case(
    looks: list[Look], *, took_ns: float, in_steps: float = 1.0, estimated: bool = False
) -> Any:
    """`took_ns`: line 5 in a step, as its counter says. It is a hundred looks."""
    time = StepTime(looks, 100, sum(each.ns for each in looks))
    share = lambda some: sum(each.ns for each in some) / time.total_ns  # noqa: E731  # as in Stacks
    whole_ns = took_ns * STEPS / in_steps
    line = SimpleNamespace(
        function=SimpleNamespace(file=FILE, function="forward"),
        row=SimpleNamespace(line=5, ns=whole_ns, estimated=estimated),
        ns=took_ns,
    )
    return SimpleNamespace(
        stacks=SimpleNamespace(time=time, share=share, sure_share=share),
        code=SimpleNamespace(lines=[line], shown=lambda frame: frame.function.file),
        steps=range(STEPS),
        step_ns=STEP_NS,
    )


def counted(**known: Any) -> float:
    """Seen in 44 of 100 looks."""
    there = look(5, 44.0)
    return counted_share(case([there, look(9, 56.0)], **known), [there], {(FILE, 5)})


def test_the_time_of_counted_lines_takes_chance_out_of_a_share() -> None:
    """Of equal recordings, one promised 1.8 and the next 2.2."""
    assert counted(took_ns=0.5 * STEP_NS) == pytest.approx(0.5)


def test_counters_say_no_more_than_chance_allows() -> None:
    """Its first call may have taken a second."""
    assert counted(took_ns=0.9 * STEP_NS) == pytest.approx(0.44 + 2 * (0.44 * 0.56 / 100) ** 0.5)


@pytest.mark.parametrize("known", [{"in_steps": 0.5}, {"estimated": True}])
def test_a_line_that_was_not_counted_in_the_steps_says_nothing(known: dict[str, Any]) -> None:
    assert counted(took_ns=0.5 * STEP_NS, **known) == pytest.approx(0.44)


def test_what_shares_its_line_with_other_work_has_its_part_of_it() -> None:
    """A quarter of the looks at the line are at a call that is not the same in every step."""
    same, other = look(5, 33.0), look(5, 11.0)
    looked = case([same, other, look(9, 56.0)], took_ns=0.4 * STEP_NS)
    assert counted_share(looked, [same], {(FILE, 5)}) == pytest.approx(0.3)


@pytest.mark.parametrize("lines", [set(), {(FILE, 7)}])
def test_without_a_counted_line_the_looks_say_it(lines: set[tuple[str, int]]) -> None:
    seen = look(9, 56.0)
    looked = case([look(5, 44.0), seen], took_ns=0.5 * STEP_NS)
    assert counted_share(looked, [seen], lines) == pytest.approx(0.56)
