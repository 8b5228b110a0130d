"""Which function's calls can be left out, on steps built by hand in which a framework trains."""

import dataclasses
from pathlib import Path

import msgspec
import pytest

from build import MS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.analyze.run import load, select
from stepscope.model import Location
from stepscope.model.findings import FindingsAnswer
from stepscope.store.format import SpanCategory
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Refusal
from stepscope.trial.fixes.proposing.left_out_function import left_out_function, share_of
from stepscope.trial.fixes.subject import Subject
from trial.test_ladder import finding

TORCH = "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py"
SCRIPT = """\
def train():
    for step in range(40):
        loss = model(x)
        loss.backward()
        optimizer.step()
        note(loss)


def note(loss):
    rows.append(describe())
    {also}
    json.dump(rows, file)


def describe():
    return [p.std().item() for p in model.parameters()]
"""
DUMP = Location(file="train.py", line=12, function="note")


def case_of(path: Path, also: str = "pass") -> Case:
    """40 steps of 10 ms: 2 in the passes, 6 in `note`, of which 2 in `json.dump`."""
    run = RunBuilder(path)
    process = run.process()
    file = process.file(text=SCRIPT.format(also=also))
    train = process.code("train", file=file, first_line=1)
    note = process.code("note", file=file, first_line=9)
    process.lines(train, 1, [(1, 0), (41, 0), (40, 0), (40, 0), (40, 0), (40, 60 * MS)])
    process.lines(note, 9, [(40, 0), (40, 40 * MS), (40, 0), (40, 20 * MS)])
    process.for_loop(process.loop(train, 2, 6), 0, [10 * MS] * 40)
    top = process.node(process.function("train"), 0, 3)
    passes = process.node(process.function("Module.__call__", file=TORCH), top, 9)
    calls = process.node(process.function("train"), 0, 6)
    describes = process.node(process.function("note"), calls, 10)
    dumps = process.node(process.function("note"), calls, 12)
    for step in range(40):
        at = step * 10 * MS
        process.span(SpanCategory.FORWARD, at, at + 1 * MS)
        process.span(SpanCategory.BACKWARD, at + 1 * MS, at + 3 * MS)
        process.span(SpanCategory.OPTIMIZER, at + 3 * MS, at + 4 * MS, number=1)
        process.sample(passes, at - MS // 2, 4 * MS, count=4)
        process.sample(describes, at + 4 * MS - MS // 2, 4 * MS, count=4)
        process.sample(dumps, at + 8 * MS - MS // 2, 2 * MS, count=2)
    process.write()
    loaded = load(run.path)
    main = select(loaded)
    assert main is not None
    return Case(loaded, main)


def test_where_a_framework_trains_a_function_that_does_not_is_left_out_with_all_it_does(
    tmp_path: Path,
) -> None:
    case = case_of(tmp_path / "run")
    found = left_out_function(case, DUMP, share=0.2)
    assert not isinstance(found, Refusal), found.reason
    assert found.node.name == "note"
    assert share_of(case, found) == pytest.approx(0.6)


@pytest.mark.parametrize(
    "also",
    [
        "scheduler.step()",
        "average.lerp_(weight, 0.1)",
        "weight.data -= 0.1 * gradient",
        "ema.load_state_dict(model.state_dict())",
    ],
)
def test_one_that_also_trains_is_not_and_the_line_is_named(tmp_path: Path, also: str) -> None:
    refusal = left_out_function(case_of(tmp_path / "run", also), DUMP, share=0.2)
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("note (train.py:9) also trains (train.py:11), so its calls")


@pytest.mark.parametrize("evaluates", [True, False])
def test_own_code_that_evaluates_is_evaluated_less_often(tmp_path: Path, evaluates: bool) -> None:
    """Though most of its time is spent otherwise, in what is computed from the predictions."""
    case = case_of(tmp_path / "run")
    advice = FindingsAnswer(verdict="", findings=[], not_judged=[])
    own = msgspec.structs.replace(finding(2.5), id="host-code", location=DUMP, share=0.6)
    if evaluates:
        look = next(each for each in case.stacks.time.looks if each.users[-1].line == 10)
        case.stacks.time.looks.append(dataclasses.replace(look, phase="evaluation", ns=1))
    subject = Subject(case, advice, frozenset({"torch"}), 2.0, finding=own)
    proposal = fixes.named("evaluate-less-often").propose(subject)
    assert (proposal is not None) == evaluates
