"""Hot loops that call operators: which of them are the loop's."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stepscope.advise.evidence.code import StepLine
from stepscope.advise.evidence.hot_loops import HotLoop, hot_loops
from stepscope.advise.gain import after_loop
from stepscope.advise.rules.python_hot_loop import _operators
from stepscope.analyze.code.sampled_steps import Frame, Look
from stepscope.analyze.operators.passes_share import passes_share
from stepscope.analyze.operators.step_operators import StepOps
from stepscope.analyze.source_text import parsed
from stepscope.model import Location
from stepscope.store.format import ForwardFlag, SpanCategory
from stepscope.store.records import FunctionName, ProcessInfo

FILE = "/me/train.py"
LINES = np.array([25, 25, 19, 40])  # of the window's operators


def frame(name: str, line: int) -> Frame:
    return Frame(FunctionName(id=1, file=FILE, line=1, name=name), line, True)


def case(*stacks: tuple[Frame, ...]) -> Any:
    window = SimpleNamespace(
        is_op=np.ones(len(LINES), np.bool_),
        on_lines=lambda _file, first, last: np.isin(LINES, range(first, last + 1)),
    )
    code = SimpleNamespace(shown=lambda each: each.function.file)
    looks = [Look("forward", stack, 10.0) for stack in stacks]
    return SimpleNamespace(
        operators=window, code=code, stacks=SimpleNamespace(time=SimpleNamespace(looks=looks))
    )


def loop(**fields: Any) -> HotLoop:
    line: Any = SimpleNamespace(
        function=SimpleNamespace(file=FILE, function="forward", first_line=20),
        row=SimpleNamespace(line=25, estimated=False),
        hits=64.0,
    )
    return HotLoop(line, 24, 25, line, 1000.0, 64.0, **fields)


def test_operators_of_a_function_that_only_the_loop_calls_are_the_loops() -> None:
    main, forward, one = frame("main", 50), frame("forward", 25), frame("one", 19)
    head = frame("head", 40)
    found = _operators(case((main, forward, one), (main, head)), loop())
    assert found.tolist() == [True, True, True, False]


def test_operators_of_a_function_that_is_called_elsewhere_as_well_are_not() -> None:
    main, forward, one = frame("main", 50), frame("forward", 25), frame("one", 19)
    found = _operators(case((main, forward, one), (main, one)), loop())
    assert found.tolist() == [True, True, False, False]


def test_a_loop_that_samples_timed_has_no_events_in_its_time() -> None:
    info: Any = SimpleNamespace(event_cost_ticks=20.0, ticks_per_ns=1.0)
    process: ProcessInfo = info
    lines = [loop().hottest]
    assert loop().recorded_ns(process, lines) == pytest.approx(64 * 20.0)
    assert loop(is_timed=False).recorded_ns(process, lines) == 0.0


@pytest.mark.parametrize(("with_core", "found"), [(1.0, 0), (0.25, 1)])
def test_a_turn_is_as_long_as_it_had_a_core(with_core: float, found: int) -> None:
    """Turns of 2 ms: where a busy machine leaves a quarter of a core, of half a millisecond."""
    text = parsed(["def f(xs):", "    for x in xs:", "        g(x)"])
    sources: Any = SimpleNamespace(files=["train.py"], text=lambda _file: text)
    function = SimpleNamespace(file="train.py", function="f", first_line=1)
    lines: Any = [
        StepLine(function, SimpleNamespace(line=line), ns, 100.0)  # type: ignore[arg-type]  # enough of them
        for line, ns in ((2, 0.0), (3, 200e6))
    ]
    assert len(hot_loops(sources, lines, with_core)) == found


class _Window(StepOps):
    """All of its operators are in the passes."""

    is_op = np.ones(12, np.bool_)
    in_optimizer = np.zeros(12, np.bool_)


def share_of_loop(passes_ns: float, with_core: float) -> float:
    """A product of 40 µs, which lost its core for 30 of them, and ten small operators of a loop."""
    events = np.array([(0, 0)] + [(1, 0)] * 11, [("name", "i4"), ("shapes", "i4")])
    tree = SimpleNamespace(events=events, self_ns=np.array([40_000.0, *[1_000.0] * 11]))
    part: Any = SimpleNamespace(tree=tree)
    nobody: Any = None
    window = _Window(nobody, nobody, part, 1, 1.0)
    kept = np.arange(12) >= 2
    return passes_share(window, kept, passes_ns=passes_ns, with_core=with_core).whole


def test_between_operators_each_takes_as_much() -> None:
    """100 µs of passes, 51 in operators: of the other 49, ten of twelve parts are the loop's."""
    found = share_of_loop(passes_ns=100_000, with_core=1.0)
    assert found == pytest.approx((10 + 49 * 10 / 12) / 100)


def test_an_operator_that_is_there_once_lost_its_core_as_often_as_the_thread() -> None:
    found = share_of_loop(passes_ns=84_000, with_core=0.25)
    assert found == pytest.approx(10 / 21)


class _Eight(_Window):
    is_op = np.ones(8, np.bool_)
    in_optimizer = np.zeros(8, np.bool_)


class _Passes:
    """Of 100 µs: a policy acts in the first 40, is asked again in a loop until 80, and learns."""

    start_ns = np.array([0, 40_000, 60_000, 80_000])
    end_ns = np.array([20_000, 60_000, 80_000, 100_000])
    flags = np.array([int(ForwardFlag.NO_GRAD), 0, 0, 0])
    category = np.array([SpanCategory.FORWARD] * 3 + [SpanCategory.BACKWARD])

    def of(self, *categories: SpanCategory) -> Any:
        return np.isin(self.category, categories)


def test_what_acts_without_gradients_has_no_part_of_the_backward_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four operators draw the action, four are the loop's: all of the backward pass is the loop's,
    where half of it was blamed, and 4 promised for what gains 14."""
    monkeypatch.setattr(after_loop, "phase_spans", lambda process, steps: _Passes())
    began = [0, 10_000, 25_000, 30_000, 41_000, 50_000, 65_000, 79_000]
    events = np.array(
        [(0, 0, at) for at in began], [("name", "i4"), ("shapes", "i4"), ("start_ns", "i8")]
    )
    part: Any = SimpleNamespace(
        tree=SimpleNamespace(events=events, self_ns=np.full(len(began), 1_000.0))
    )
    nobody: Any = None
    window = _Eight(nobody, nobody, part, 1, 1.0)
    case: Any = SimpleNamespace(
        operators=window,
        steps=None,
        process=SimpleNamespace(clock=SimpleNamespace(monotonic_ns=lambda at: 0)),
        phase_ns=lambda name: {"forward": 80_000.0, "backward": 20_000.0}[name],
        window=(np.array([0]), np.array([100_000])),
        machine=SimpleNamespace(with_core=1.0),
    )
    assert after_loop.backward_share(case, np.arange(8) >= 4) == pytest.approx(1.0)


def test_what_a_line_takes_beyond_its_operators_frees_the_graph_that_it_made() -> None:
    """`loss = criterion(...)` gives back the last loss, and thousands of nodes with it."""
    frames = frame("main", 50), frame("criterion", 25)
    in_loop, freeing, other = (
        Look("forward", stack, ns)
        for stack, ns in ((frames, 60.0), (frames[:1], 30.0), ((frame("main", 51),), 10.0))
    )
    texts = {50: "        loss = criterion(scores, relevance)", 51: "        scores = model(batch)"}
    window = SimpleNamespace(
        is_op=np.ones(2, np.bool_),
        on_lines=lambda _file, first, last: np.array([first == 50, first == 25]),
        usual_ns=lambda kept: np.array([5.0, 1.0])[kept],
        steps=1,
    )
    made: Any = SimpleNamespace(
        operators=window,
        code=SimpleNamespace(
            place=lambda each: Location(file=FILE, line=each.line, function=each.function.name),
            text=lambda place: texts.get(place.line),
        ),
        stacks=SimpleNamespace(
            free=lambda *phases: [in_loop, freeing, other],
            sure_share=lambda looks: sum(each.ns for each in looks) / 100,
        ),
        step_ns=100.0,
        machine=SimpleNamespace(with_core=1.0),
    )
    assert after_loop.freed_ns(made, [in_loop]) == pytest.approx(30.0 - 5.0)
    texts[50] = "        show(criterion(scores, relevance))"
    assert after_loop.freed_ns(made, [in_loop]) == 0.0
