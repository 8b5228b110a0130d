"""Which steps of a real script a trial counts: the training's, however fast a fix makes them."""

from pathlib import Path

from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.launch.options import RecordOptions
from trial.scripts import run_with

FAST = """
for turn in range(100_000):
    sum(range(50))
    print(turn, flush=True)
"""
DATA_FIRST = """
import time

def prepare():
    for _ in range(60):
        time.sleep(0.002)

def train():
    for _ in range(40):
        time.sleep(0.01)

prepare()
train()
"""


def test_the_loop_that_is_known_to_be_the_steps_is_counted_beyond_a_thousand_a_second(
    tmp_path: Path,
) -> None:
    script = tmp_path / "fast.py"
    script.write_text(FAST)
    options = RecordOptions(ops="off", steps=3_000, step_loop="fast.py:2")
    tried = run_with(script, fixes={}, into=tmp_path / "run", options=options)
    assert tried.status == 0
    assert tried.stdout.splitlines()[-1] == "2999"


def test_a_loop_that_makes_the_data_does_not_end_the_baseline(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(DATA_FIRST)
    options = RecordOptions(ops="off", steps=30, guess_after_s=3.0)
    tried = run_with(script, fixes={}, into=tmp_path / "run", options=options)
    answer = steps(load(str(tried.run)))
    assert (answer.steps, (answer.anchor or "").rpartition(":")[2]) == (30, "9")
