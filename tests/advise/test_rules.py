"""Details of single rules, each with the cases that were once judged wrongly."""

import ast
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stepscope.advise.evidence.source import Text
from stepscope.advise.evidence.user_calls import stage_call
from stepscope.advise.gain.threads import with_a_core
from stepscope.advise.rules.float64_compute import has_doubles
from stepscope.advise.rules.optimizer_unfused import parameters
from stepscope.analyze.operators.step_operators import StepOps
from stepscope.analyze.phases.opened_files import is_log
from stepscope.importers.trace import Shapes


@pytest.mark.parametrize(
    ("types", "dims", "expected"),
    [
        ('["double", "double"]', "[[8, 4], [4, 2]]", True),
        ('["float", "double"]', "[[8, 4], [8, 4]]", True),
        ('["float", "double"]', "[[512, 512], []]", False),  # tensor * 0.9
        ('["float", "double", "Scalar"]', "[[], [], []]", False),
        ('["float", "long int"]', "[[8], [8]]", False),
        ("", "", False),
    ],
)
def test_a_python_number_makes_no_double_precision(types: str, dims: str, expected: bool) -> None:
    assert has_doubles(types, dims) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/tmp/losses.csv", True),
        ("/tmp/train.log.1", True),
        ("/tmp/checkpoints/metrics.jsonl", True),
        ("/tmp/checkpoint.json", False),
        ("/tmp/model_weights.txt", False),
        ("/tmp/state.pkl", False),
    ],
)
def test_a_text_that_keeps_the_model_is_no_log(path: str, expected: bool) -> None:
    assert is_log(path) is expected


def test_threads_that_meet_at_barriers_wait_for_each_other_too() -> None:
    """Three quarters of the time without a core: an eighth of the step is left."""
    saving = with_a_core(0.75, 80.0)
    assert saving.expected == pytest.approx(70.0)
    assert (saving.least, saving.most) == pytest.approx((30.0, 75.0))
    assert with_a_core(0.06, 100.0).expected == pytest.approx(8.9, abs=0.1)


def test_an_optimizer_has_as_many_parameters_as_its_rarest_operator_is_called() -> None:
    """AdamW multiplies twice for each of them: for the decay and for the second moment."""
    names, calls = ["aten::mul_", "aten::addcdiv_", "aten::add_"], [8, 4, 4]
    rows = [(name, int(name == 2)) for name, count in enumerate(calls) for _ in range(count)]
    events = np.array(rows, np.dtype([("name", np.int32), ("shapes", np.int32)]))
    shapes = [Shapes(dims="[[10, 10]]"), Shapes(dims="[[]]")]  # the step counter is a scalar
    tree = SimpleNamespace(events=events, trace=SimpleNamespace(names=names, shapes=shapes))
    part: Any = SimpleNamespace(tree=tree)
    nobody: Any = None
    window = StepOps(nobody, nobody, part, 1, 1.0)
    assert parameters(window, np.ones(len(rows), np.bool_)) == (4, 400.0)


PIPELINE = """
def pipeline(fixed):
    data = tf.data.Dataset.from_tensor_slices(files)
    if fixed:
        return data.map(decode, num_parallel_calls=4)
    return (
        data.shuffle(500)
        .map(decode)
        .batch(24)
    )
"""


def _case(text: str, ran: set[int]) -> Any:
    """A script with one function, in which these lines ran."""
    rows = [SimpleNamespace(line=line, hits=int(line in ran)) for line in range(1, 20)]
    function = SimpleNamespace(file="train.py", function="pipeline", lines=rows)
    sources = SimpleNamespace(
        files=["train.py"], text=lambda _file: Text(text.splitlines(), ast.parse(text))
    )
    return SimpleNamespace(code=SimpleNamespace(functions=[function], sources=sources))


def test_a_stage_of_a_pipeline_is_reported_with_the_call_that_made_it() -> None:
    found = stage_call(_case(PIPELINE, {3, 4, 7, 8, 9}), "MapAndBatch")
    assert found is not None
    assert (found.line, found.function) == (8, "pipeline")


def test_two_calls_that_may_have_made_a_stage_are_not_guessed_between() -> None:
    assert stage_call(_case(PIPELINE, {3, 4, 5, 7, 8, 9}), "Map") is None
    assert stage_call(_case(PIPELINE, {3, 4, 7, 8, 9}), "Zip") is None
