"""Two findings about the same time: which comes first, and that nobody adds them up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from build import MS
from stepscope.advise.evidence.graph_calls import calls_python
from stepscope.advise.findings import _Weighed, limited_to_the_same_time
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.advise.gain.whatif import Steps
from stepscope.advise.rules.python_in_graph import _saving
from stepscope.analyze.operators.step_operators import StepOps
from stepscope.model import Process


def candidate(id: str, saved_ms: float, same_time_as: str | None = None) -> Candidate:
    saving = Saving.part_of(saved_ms * MS, expected=1.0, least=0.5)
    return Candidate(
        id=id, title="", verdict="", share=0.5, evidence=[], saving=saving, fix="",
        same_time_as=same_time_as,
    )  # fmt: skip


def told(*candidates: Candidate) -> list[tuple[str, str | None]]:
    steps = Steps(np.full(60, 10 * MS))
    who = Process(role="main", rank=None, pid=1)
    weighed = _Weighed(steps, who, limited_to_the_same_time(list(candidates)), every=False)
    return [(each.id, each.then) for each in weighed.findings]


def test_the_easier_fix_comes_first_and_the_other_is_the_same_time() -> None:
    python = candidate("python-in-graph", 6, same_time_as="input-bound")
    waits, loop = candidate("input-bound", 5), candidate("python-hot-loop", 2)
    assert told(python, waits, loop) == [
        ("input-bound", None),
        ("python-in-graph", "the same time as input-bound"),
        ("python-hot-loop", "after the fixes above: another 1.67×"),
    ]


def test_without_the_other_finding_it_stands_for_itself() -> None:
    python = candidate("python-in-graph", 6, same_time_as="input-bound")
    loop = candidate("python-hot-loop", 2)
    assert told(loop, python) == [
        ("python-in-graph", None),
        ("python-hot-loop", "after the first fix: another 2.00×"),
    ]


@pytest.mark.parametrize(("in_pipeline_ms", "expected"), [(9, True), (1, False)])
def test_python_is_the_pipelines_where_most_of_its_calls_are(
    in_pipeline_ms: int, expected: bool
) -> None:
    rows = [(0, in_pipeline_ms * MS, True), (0, 3 * MS, False), (1, 50 * MS, False)]
    kinds = [("name", np.int32), ("duration_ns", np.int64), ("is_input", np.bool_)]
    tree = SimpleNamespace(
        events=np.array(rows, np.dtype(kinds)), trace=SimpleNamespace(names=["PyFunc", "MatMul"])
    )
    part: Any = SimpleNamespace(tree=tree)
    nobody: Any = None
    case: Any = SimpleNamespace(operators=StepOps(nobody, nobody, part, 1, 1.0))
    assert calls_python(case) is expected


def test_what_python_does_for_a_batch_still_has_to_be_done() -> None:
    assert _saving(6.0 * MS, in_pipeline=True).expected == 3 * MS
    assert _saving(6.0 * MS, in_pipeline=True).least == 0
    assert _saving(6.0 * MS, in_pipeline=False).expected == 6 * MS
