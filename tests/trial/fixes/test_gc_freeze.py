"""The set-up frozen and fewer collections: what the script sees, and when it is proposed."""

import gc
from pathlib import Path

from stepscope.store.format import SpanCategory
from stepscope.store.reader import open_run
from stepscope.trial.fixes.fix import Proposal, Refusal
from stepscope.trial.fixes.stalls.gc_freeze import FIX
from trial.fixes.recorded import subject_of
from trial.scripts import run_with

_SCRIPT = """\
import gc


class Node:
    def __init__(self, value, *made_of):
        self.value = value
        self.made_of = made_of
        self.me = lambda: self


def train(steps):
    weight, kept = 0.5, [[index] for index in range(20_000)]
    for epoch in range(2):
        for step in range(steps):
            total = Node(0.0)
            for index in range(4_000):
                total = Node(total.value + weight / (index + 1), total)
            weight -= 1e-3 * total.value
    return weight, len(kept)


print(*train(25))
print(gc.get_threshold(), gc.get_freeze_count() > 20_000)
"""


def _written(folder: Path, text: str = _SCRIPT) -> Path:
    script = folder / "script.py"
    script.write_text(text)
    return script


def test_the_set_up_is_frozen_and_the_result_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    script = _written(tmp_path)
    plain = run_with(script, fixes={}, into=tmp_path / "plain")
    settings = {"after_s": 0.0, "young_objects": 50_000}
    tried = run_with(script, fixes={"gc-freeze": settings}, into=tmp_path / "run")
    assert tried.applied("gc-freeze") == "gc.freeze(), gc.set_threshold(50_000)"
    assert tried.stdout.splitlines()[0] == plain.stdout.splitlines()[0]
    assert plain.stdout.splitlines()[1] == f"{gc.get_threshold()} False"
    assert tried.stdout.splitlines()[1].startswith("(50000, 10, 10)")


def test_it_waits_until_the_steps_have_begun(tmp_path: Path) -> None:
    settings = {"after_s": 3600.0, "young_objects": 50_000}
    tried = run_with(_written(tmp_path), fixes={"gc-freeze": settings}, into=tmp_path / "run")
    assert tried.applied("gc-freeze") is None
    assert str(gc.get_threshold()) in tried.stdout


def test_a_collection_is_recorded_with_its_generation_and_what_it_freed(tmp_path: Path) -> None:
    tried = run_with(_written(tmp_path), fixes={}, into=tmp_path / "run")
    collections = open_run(tried.run).processes[0].spans.of(SpanCategory.GC)
    full = collections.generation == 3
    assert full.any()
    assert collections.freed_objects[full].max() > 4_000


def test_the_threshold_holds_some_steps_and_the_patch_stands_before_the_outermost_loop(
    tmp_path: Path,
) -> None:
    subject, _ = subject_of(_written(tmp_path))
    proposal = FIX.propose(subject)
    assert isinstance(proposal, Proposal)
    assert proposal.settings["young_objects"] >= 50_000
    assert proposal.settings["after_s"] > 0
    added = [line for line in (proposal.patch or "").splitlines() if line.startswith("+    ")]
    assert added[:2] == ["+    gc.collect()", "+    gc.freeze()"]
    assert "     for epoch in range(2):" in (proposal.patch or "")
    assert "+import gc" not in (proposal.patch or "")


def test_a_script_with_its_own_way_is_left_alone(tmp_path: Path) -> None:
    own = _SCRIPT.replace("\nprint(*train", "\ngc.set_threshold(800, 10, 10)\nprint(*train")
    subject, _ = subject_of(_written(tmp_path, own))
    refusal = FIX.propose(subject)
    assert isinstance(refusal, Refusal)
    assert f"script.py:{own.splitlines().index('gc.set_threshold(800, 10, 10)') + 1}" in (
        refusal.reason
    )
