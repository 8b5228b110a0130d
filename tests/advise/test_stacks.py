"""Looks at the stacks, weighed by what the spans of their phases say."""

import pytest

from stepscope.advise.evidence.stacks import as_timed
from stepscope.analyze.code.sampled_steps import Look, StepTime


def test_looks_have_as_much_of_a_phase_as_its_spans() -> None:
    """The sampler was late in the forward pass: it saw half of it."""
    looks = [Look("forward", (), 10.0), Look("forward", (), 20.0), Look("python", (), 70.0)]
    seen = as_timed(StepTime(looks, 100, 100.0), {"forward": 60.0, "python": 30.0, "files": 10.0})
    assert [look.ns for look in seen.looks] == pytest.approx([20.0, 40.0, 40.0])


def test_a_phase_that_no_span_knows_counts_nothing() -> None:
    looks = [Look("forward", (), 50.0), Look("backward", (), 50.0)]
    seen = as_timed(StepTime(looks, 100, 100.0), {"forward": 100.0})
    assert [look.ns for look in seen.looks] == pytest.approx([100.0, 0.0])
