"""What a loop's header does: a generator there makes the batches, a condition does not."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.rules.input_bound import judge
from stepscope.analyze.run import load

STEPS = 40


def run_with(path: Path, header: str) -> Case:
    """Steps of 20 ms, of which 15 are spent in `made`, which the header calls."""
    process = RunBuilder(path).process()
    lines = ["def made():", "    return 1", "def train():", f"    {header}", "        update()"]
    file = process.file(text="\n".join(lines))
    codes = {name: process.code(name, file=file, first_line=at)
             for name, at in (("made", 1), ("train", 3))}  # fmt: skip
    process.lines(codes["made"], 1, [(0, 0), (STEPS, 15 * MS * STEPS)])
    process.lines(codes["train"], 3, [(0, 0), (STEPS, 15 * MS * STEPS), (STEPS, 5 * MS * STEPS)])
    process.for_loop(process.loop(codes["train"], 4, 5), 0, [20 * MS] * STEPS)
    made, train = process.function("made", line=1), process.function("train", line=3)
    in_header = process.node(made, process.node(train, line=4), line=2)
    in_body = process.node(train, line=5)
    for step in range(STEPS):
        process.sample(in_header, step * 20 * MS, 15 * MS, count=15)
        process.sample(in_body, (step * 20 + 15) * MS, 5 * MS, count=5)
    process.write(STEPS * 20 * MS)
    run = load(path)
    assert run.main is not None
    return Case(run, run.main)


@pytest.mark.parametrize(
    ("header", "is_input"),
    [
        ("for batch in made():", True),
        ("while (batch := made()) is not None:", True),
        ("while not made():", False),
    ],
)
def test_only_a_header_that_brings_something_is_waiting_for_a_batch(
    header: str, is_input: bool, tmp_path: Path
) -> None:
    found = judge(run_with(tmp_path / "run", header))
    assert [each.id for each in found] == (["input-bound"] if is_input else [])
