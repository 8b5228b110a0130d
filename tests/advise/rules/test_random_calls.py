"""Which calls in a function draw random numbers that its next call would not get."""

import ast
from typing import Any

import pytest

from stepscope.advise.evidence.random_calls import random_line


class NoSources:
    def definitions(self, name: str) -> list[Any]:
        return []


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("rng = np.random.default_rng(i)\n return rng.random()", None),
        ("rng = random.Random(self.seed + i)\n return rng.random()", None),
        ("return tf.random.stateless_normal((2,), seed=[1, i])", None),
        ("return tf.random.normal((2,))", 2),
        ("rng = np.random.default_rng()\n return rng.random()", 3),
        ("return self.rng.random()", 2),
        ("rng = np.random.default_rng(i)\n return rng.random() + np.random.rand()", 3),
    ],
)
def test_a_generator_that_the_call_itself_seeds_gives_the_same_every_time(
    body: str, line: int | None
) -> None:
    (function,) = ast.parse(f"def sample(self, i):\n {body}\n").body
    assert isinstance(function, ast.FunctionDef)
    sources: Any = NoSources()
    assert random_line(function, sources) == line
