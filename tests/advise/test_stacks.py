"""Looks at the stacks, weighed by what the spans of their phases say."""

import pytest

from stepscope.advise.evidence.stacks import as_counted, as_timed
from stepscope.analyze.code.sampled_steps import Frame, Look, StepTime
from stepscope.store.records import FunctionName


def test_looks_have_as_much_of_a_phase_as_its_spans() -> None:
    """The sampler was late in the forward pass: it saw half of it."""
    looks = [Look("forward", (), 10.0), Look("forward", (), 20.0), Look("python", (), 70.0)]
    seen = as_timed(StepTime(looks, 100, 100.0), {"forward": 60.0, "python": 30.0, "files": 10.0})
    assert [look.ns for look in seen.looks] == pytest.approx([20.0, 40.0, 40.0])


def test_a_phase_that_no_span_knows_counts_nothing() -> None:
    looks = [Look("forward", (), 50.0), Look("backward", (), 50.0)]
    seen = as_timed(StepTime(looks, 100, 100.0), {"forward": 100.0})
    assert [look.ns for look in seen.looks] == pytest.approx([100.0, 0.0])


def test_what_recording_took_is_not_the_line_that_it_interrupted() -> None:
    """20 of 100 were seen in a line between the passes: 10 of what it has with the recording."""
    looks = [look("train", 1, 80.0, "forward"), look("train", 1, 20.0)]
    timed = {"forward": 60.0, "python": 10.0, "profiler": 30.0}
    seen = as_timed(StepTime(looks, 100, 100.0), timed)
    assert [each.phase for each in seen.looks] == ["forward", "python", "profiler"]
    assert [each.ns for each in seen.looks] == pytest.approx([60.0, 20.0, 20.0])


def look(name: str, line: int, ns: float, phase: str = "python") -> Look:
    """Of a function of the user's that begins at this line."""
    function = FunctionName(id=line, file="/me/train.py", line=line, name=name)
    return Look(phase, (Frame(function, line + 1, True),), ns)


def test_a_function_was_seen_no_longer_than_its_lines_took() -> None:
    """The sampler was late: it saw the function after the one that takes the time."""
    looks = [look("average", 1, 20.0), look("tick", 9, 20.0), look("train", 20, 60.0, "forward")]
    most = {("/me/train.py", 1): 0.45, ("/me/train.py", 9): 0.02, ("/me/train.py", 20): 0.4}
    seen = as_counted(StepTime(looks, 100, 100.0), most)
    assert [each.ns for each in seen.looks] == pytest.approx([38.0, 2.0, 60.0])


def test_looks_that_agree_with_the_counters_stay_as_they_are() -> None:
    looks = [look("average", 1, 20.0), look("tick", 9, 20.0)]
    most = {("/me/train.py", 1): 0.3, ("/me/train.py", 9): 0.18}
    assert as_counted(StepTime(looks, 100, 40.0), {}).looks == looks
    assert as_counted(StepTime(looks, 100, 100.0), most).looks == looks
