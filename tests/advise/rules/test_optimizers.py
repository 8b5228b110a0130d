"""Optimizers that update one parameter at a time: their operators, and which could do better."""

from pathlib import Path
from typing import Any

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.optimizer_unfused import judge
from stepscope.analyze.run import load
from stepscope.store.format import SpanCategory
from traced_window import TRACE, trace_file, window

STEPS = 40
WINDOW = range(20, 23)  # these steps
STEP_US = 10_000
Stretch = tuple[str, int, int]  # optimizer, from and to in us of the step


def judged(
    path: Path, *optimizers: Stretch, operators: dict[str, int], source: str = ""
) -> list[Candidate]:
    """Steps of 10 ms with these optimizers' steps in them; each has that many operators, five for
    every parameter of 10 x 10."""
    run = RunBuilder(path)
    process = run.process(pid=100)
    _lines(process, source)
    process.step(0, begins=True)
    events = []
    for step in range(STEPS):
        at_us = step * STEP_US
        process.span(SpanCategory.FORWARD, at_us * 1000, at_us * 1000 + MS)
        for name, start, end in optimizers:
            from_ns, to_ns = (at_us + start) * 1000, (at_us + end) * 1000
            process.span(SpanCategory.OPTIMIZER, from_ns, to_ns, name=name, number=1)
            if step in WINDOW:
                events += _traced(name, at_us + start, at_us + end, operators[name])
        process.step((at_us + STEP_US) * 1000)
    window(process, WINDOW[0] * 10 * MS, (WINDOW[-1] + 1) * 10 * MS)
    process.write()
    trace_file(process.folder / TRACE, events)
    loaded = load(run.path)
    assert loaded.main is not None
    return judge(Case(loaded, loaded.main))


def _lines(process: ProcessBuilder, source: str) -> None:
    code = process.code("train", file=process.file(text=source))
    process.lines(code, 1, [(STEPS, MS)])


def _traced(name: str, start_us: int, end_us: int, operators: int) -> list[dict[str, Any]]:
    here = {"ph": "X", "pid": 100, "tid": 100}
    step = {"name": f"Optimizer.step#{name}.step", "cat": "user_annotation", "args": {}}
    found = [here | step | {"ts": start_us, "dur": end_us - start_us}]
    for number in range(operators):
        op = {"name": f"aten::op{number % 5}", "cat": "cpu_op"}
        at = {"ts": start_us + 10 + 5 * number, "dur": 4, "args": {"Input Dims": [[10, 10]]}}
        found.append(here | op | at)
    return found


@pytest.mark.parametrize("name", ["LBFGS", "SparseAdam", "Muon"])
def test_torchs_own_without_a_form_for_many_parameters_are_left_alone(
    name: str, tmp_path: Path
) -> None:
    step = (name, 4000, 9000)
    assert judged(tmp_path / "torchs", step, operators={name: 500}) == []
    source = f"class {name}(torch.optim.Optimizer):\n    pass\n"
    (found,) = judged(tmp_path / "own", step, operators={name: 500}, source=source)
    assert f"Let {name}.step update lists of tensors" in found.fix


def test_an_own_one_with_the_name_of_a_fused_one_of_torchs_may_be_replaced_by_it(
    tmp_path: Path,
) -> None:
    source = "class Adam(torch.optim.Optimizer):\n    pass\n"
    step = ("Adam", 2_000, 7_000)
    (own,) = judged(tmp_path / "own", step, operators={"Adam": 100}, source=source)
    (torchs,) = judged(tmp_path / "torchs", step, operators={"Adam": 100})
    assert "torch.optim.Adam(…, fused=True)" in own.fix
    assert own.saving.expected == torchs.saving.expected
    assert own.saving.most == torchs.saving.most
    assert own.trial is None  # nothing outside can know that it does the same


def test_each_optimizer_has_its_own_operators_time_and_parameters(tmp_path: Path) -> None:
    steps = ("SparseAdam", 3000, 6000), ("Adam", 6000, 8000)
    operators = {"SparseAdam": 384, "Adam": 60}
    (found,) = judged(tmp_path / "run", *steps, operators=operators)
    assert found.share == pytest.approx(0.2, abs=0.01)
    assert found.evidence == [
        "Adam.step takes 2.00 ms of the 10.0 ms step (20 %), in 60 operators for about "
        "12 parameters, none of them fused."
    ]
    few = ("SparseAdam", 3000, 7000), ("Adam", 7000, 8000)
    assert judged(tmp_path / "few", *few, operators=operators) == []


def test_one_that_wraps_another_has_not_its_operators(tmp_path: Path) -> None:
    steps = ("Lookahead", 3000, 8000), ("Adam", 3500, 7500)
    operators = {"Lookahead": 40, "Adam": 600}
    (found,) = judged(tmp_path / "run", *steps, operators=operators)
    assert found.evidence[0].startswith(
        "Adam.step takes 4.00 ms of the 10.0 ms step (40 %), in 600"
    )


@pytest.mark.parametrize(("name", "part"), [("Adam", 0.9), ("RMSprop", 0.35), ("NAdam", 0.25)])
def test_lists_of_tensors_save_a_third_at_most_on_a_cpu_and_fusing_more(
    name: str, part: float, tmp_path: Path
) -> None:
    """20 parameters in 5 ms: a fused step takes 0.2 ms, one over lists 65 % and more of it."""
    (found,) = judged(tmp_path / "run", (name, 2_000, 7_000), operators={name: 100})
    assert found.saving.expected == pytest.approx(part * 5 * MS, rel=0.1)
    assert found.saving.most is not None
    assert found.saving.least < found.saving.expected < found.saving.most
