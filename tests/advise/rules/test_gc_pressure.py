"""When garbage collections are a finding of their own, what it says, and who else counts them."""

from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.model.findings import FindingsAnswer
from stepscope.store.format import SpanCategory

STEPS = 200
FULL, YOUNG = 3, 1  # generations
SOURCE = """\
def train(batches):
    for batch in batches:
        nodes = []
        for number in batch:
            nodes.append(Node(number))
        learn(nodes)
"""
MAKES, LEARNS = 5, 6


class Made:
    """200 steps of 10 ms. `gc_ms`: by step, the collection in the middle of it."""

    def __init__(
        self, path: Path, gc_ms: list[int], *, freed: int = 0, full: int = FULL,
        source: str = SOURCE,
    ) -> None:  # fmt: skip
        self.run = RunBuilder(path)
        self.process = process = self.run.process()
        code = process.code(file=process.file(text=source))
        turns = [(10 + each) * MS for each in gc_ms]
        process.for_loop(process.loop(code, 2, 6), 0, turns)
        self._lines(process, code, sum(gc_ms))
        function = process.function("train")
        makes, learns = process.node(function, 0, MAKES), process.node(function, 0, LEARNS)
        at = 0
        for turn, each in zip(turns, gc_ms, strict=True):
            process.sample(makes, at - MS // 2, 4 * MS, count=4)
            if each:
                process.span(
                    SpanCategory.GC, at + 4 * MS, at + (4 + each) * MS, generation=full,
                    freed_objects=freed,
                )  # fmt: skip
                process.sample(makes, at + 4 * MS - MS // 2, each * MS, count=each)
            process.sample(learns, at + (4 + each) * MS - MS // 2, 6 * MS, count=6)
            at += turn

    def _lines(self, process: ProcessBuilder, code: int, gc_ms: int) -> None:
        made = (100 * STEPS, STEPS * 3 * MS + gc_ms * MS)  # lines are timed with the collections
        rest = [(STEPS + 1, 0), (STEPS, 0), (100 * STEPS, STEPS * MS), made]
        process.lines(code, 2, [*rest, (STEPS, STEPS * 6 * MS)])

    def judged(self) -> FindingsAnswer:
        self.process.write()
        return findings(load(self.run.path))


def test_collections_in_every_step_are_the_verdict_with_the_line_that_makes_objects(
    tmp_path: Path,
) -> None:
    answer = Made(tmp_path / "run", [30] * STEPS, freed=5000).judged()
    first = answer.findings[0]
    assert (first.id, first.trial) == ("gc-pressure", "gc-freeze")
    assert first.share == pytest.approx(0.75, abs=0.01)
    assert first.location is not None
    assert (first.location.function, first.location.line) == ("train", MAKES)
    assert first.speedup.expected == pytest.approx(4, rel=0.05)
    assert "goes to garbage collection" in answer.verdict
    assert f"train.py:{MAKES}" in answer.verdict


def test_objects_that_only_the_collector_frees_are_told_from_those_that_are_alive(
    tmp_path: Path,
) -> None:
    cycles = Made(tmp_path / "cycles", [10] * STEPS, freed=5000).judged().findings[0]
    alive = Made(tmp_path / "alive", [10] * STEPS, freed=0).judged().findings[0]
    assert "frees 5,000 objects" in cycles.evidence[0]
    assert "cycles" in cycles.fix
    assert "free nothing" in alive.evidence[0]
    assert "gc.freeze()" in alive.fix
    assert "cycles" not in alive.fix


def test_young_collections_are_told_from_full_ones(tmp_path: Path) -> None:
    young = Made(tmp_path / "young", [10] * STEPS, full=YOUNG).judged().findings[0]
    full = Made(tmp_path / "full", [10] * STEPS, full=FULL).judged().findings[0]
    assert "young objects" in young.evidence[0]
    assert "all objects" in full.evidence[0]


def test_few_slow_steps_with_a_collection_are_slow_steps_and_nothing_else(tmp_path: Path) -> None:
    few = [60 if step % 20 == 19 else 0 for step in range(STEPS)]
    answer = Made(tmp_path / "run", few).judged()
    assert "slow-outlier-steps" in [each.id for each in answer.findings]
    assert "gc-pressure" not in [each.id for each in answer.findings]


def test_where_every_step_collects_slow_steps_do_not_count_the_same_time_again(
    tmp_path: Path,
) -> None:
    some = [60 if step % 20 == 19 else 5 for step in range(STEPS)]
    answer = Made(tmp_path / "run", some).judged()
    found = {each.id: each for each in answer.findings}
    assert found["gc-pressure"].share == pytest.approx(7.75 / 17.75, abs=0.01)
    assert "slow-outlier-steps" not in found
    assert "garbage" in answer.outliers[0].why


def test_a_loop_does_not_count_the_collections_in_it(tmp_path: Path) -> None:
    answer = Made(tmp_path / "run", [10] * STEPS).judged()
    shares = {each.id: each.share for each in answer.findings}
    assert shares["gc-pressure"] == pytest.approx(0.5, abs=0.01)
    assert shares["python-hot-loop"] == pytest.approx(4 / 20, abs=0.02)


def test_collections_of_a_hundredth_are_nothing(tmp_path: Path) -> None:
    answer = Made(tmp_path / "run", [1 if step % 8 == 0 else 0 for step in range(STEPS)]).judged()
    assert "gc-pressure" not in [each.id for each in answer.findings]


def test_collections_that_the_script_asks_for_say_so(tmp_path: Path) -> None:
    made = Made(tmp_path / "run", [10] * STEPS, source=SOURCE.replace("nodes.append", "gc.collect"))
    answer = made.judged()
    assert "the script asks for it" in answer.verdict
    assert "out of the step" in answer.findings[0].fix


def test_those_that_it_asks_for_now_and_then_are_no_mystery_of_slow_steps(tmp_path: Path) -> None:
    few = [60 if step % 20 == 19 else 0 for step in range(STEPS)]
    made = Made(tmp_path / "run", few, source=SOURCE.replace("nodes.append", "gc.collect"))
    answer = made.judged()
    assert answer.findings[0].id == "gc-pressure"
    assert "slow-outlier-steps" not in [each.id for each in answer.findings]
    assert f"of step time, in {STEPS // 20} of" in answer.verdict
