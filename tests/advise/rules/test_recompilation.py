"""What is left of a step that no longer compiles."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.recompilation import judge
from stepscope.analyze.run import load
from stepscope.store.format import SpanCategory

OTHERS_MS = (2, 2, 2, 2, 2, 2, 2, 2, 8)  # one in ten steps has a large batch


def compiled_in_every_tenth_step(path: Path, why: str) -> Candidate:
    """Of 160 ms: 100 of them compiling, and much of the rest is slow because of it."""
    process = RunBuilder(path).process()
    at = 0
    process.step(0, begins=True)
    for _ in range(20):
        for lasts in (*OTHERS_MS, 160):
            if lasts == 160:
                name = f"tf.function train_step; again because {why}"
                process.span(SpanCategory.COMPILE, at, at + 100 * MS, name=name)
            at += lasts * MS
            process.step(at)
    process.write()
    opened = load(path)
    assert opened.main is not None
    (found,) = judge(Case(opened, opened.main))
    return found


def left_ms(found: Candidate, saved_ns: float | None) -> float:
    step_ms = (sum(OTHERS_MS) + 160) / 10
    return step_ms - (saved_ns or 0.0) / MS


def test_with_other_shapes_it_takes_what_a_large_batch_does(tmp_path: Path) -> None:
    """Padded, 8 ms; as they are, 2.7 on average."""
    found = compiled_in_every_tenth_step(tmp_path, "x has the shape (8, 64), had (8, 16)")
    assert left_ms(found, found.saving.expected) == pytest.approx(8.0, rel=0.05)
    assert left_ms(found, found.saving.most) == pytest.approx(24 / 9, rel=0.05)


def test_with_other_values_it_takes_what_the_others_do(tmp_path: Path) -> None:
    found = compiled_in_every_tenth_step(tmp_path, "rate is 0.2, was 0.1")
    assert left_ms(found, found.saving.expected) == pytest.approx(24 / 9, rel=0.05)
