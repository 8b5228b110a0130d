"""Whether other loops are still to come, asked inside of a loop of a real script."""

import sys
from collections.abc import Iterator
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import pytest

from stepscope.record.code.code_table import tree
from stepscope.record.code.loops import find_loops
from stepscope.record.steps.what_follows import loops_follow

FUNCTIONS = """
import json

def prepare():
    for turn in range(2):
        look()

def train(data=None):
    for turn in range(2):
        look()
    print(json.dumps({"loss": 1.0}))

def report(numbers):
    print(sum(numbers))

def work():
    train()

class Trainer:
    def __call__(self):
        pass

    def run(self):
        work()
"""
TO_COME = {
    "prepare()\ntrain()\n": [True, False],
    "prepare()\nTrainer().run()\n": [True, False],
    "train(prepare())\n": [True, False],
    "print(train(), prepare())\nreport([1])\n": [True, False],
    "report([prepare() or 1])\n": [False],
    "prepare()\nTrainer()()\n": [True],
    "prepare()\nmodel = None\nif model: model.fit()\n": [True],
    "for epoch in range(1):\n    train()\nreport([1])\n": [False],
    "for turn in range(2):\n    look()\nfor turn in range(2):\n    look()\n": [True, False],
}


@pytest.mark.parametrize(("script", "expected"), TO_COME.items())
def test_loops_behind_the_running_one_follow_and_a_last_report_does_not(
    script: str, expected: list[bool], capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(script) == expected


def asked(script: str) -> list[bool]:
    """The different answers, in order. Loops count as begun when they have been asked from."""
    code = compile(FUNCTIONS + script, "train.py", "exec")
    entries = {each: entry(each) for each in tree(code)}
    table: Any = SimpleNamespace(entries=entries.values(), find=entries.get)
    seen: list[bool] = []
    begun: set[int] = set()

    def look() -> None:
        for frame in filter(lambda each: each.f_code in entries, frames()):
            loops = entries[frame.f_code].loops
            begun.update(
                each.line for each in loops if each.line < frame.f_lineno <= each.last_line
            )
        seen.append(loops_follow(frames(), table, begun))

    exec(code, {"look": look})
    return list(dict.fromkeys(seen))


def entry(code: CodeType) -> SimpleNamespace:
    loops = find_loops(code)
    return SimpleNamespace(code=code, loops=loops, loop_ids=[loop.line for loop in loops])


def frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back
