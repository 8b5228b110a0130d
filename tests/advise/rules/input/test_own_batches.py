"""What the steps ask for their batch: a generator in the loop's header, a data set in its body."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.findings import findings
from stepscope.advise.rules.input_bound import judge
from stepscope.analyze.run import load
from stepscope.store.format import SpanCategory

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


def asking(path: Path, line: str, *, asked: str, in_forward: bool = False, kind: str) -> Case:
    """Steps of 20 ms: for 15 of them `line` of the loop's body waits for what it asks, which has a
    loop over 500 elements. The rest is the model's."""
    process = RunBuilder(path).process()
    text = ["class Data:", f"    def {asked.rpartition('.')[2]}(self, index):",
            "        for value in self.values[index]:", "            parse(value)",
            "def train():", "    for number in range(40):", f"        {line}",
            "        model(batch)"]  # fmt: skip
    file = process.file(text="\n".join(text))
    code = process.code(asked, file=file, first_line=2, kind=kind)
    train = process.code("train", file=file, first_line=5)
    process.lines(code, 3, [(501 * STEPS, 0), (500 * STEPS, 15 * MS * STEPS)], calls=STEPS)
    process.lines(train, 6, [(STEPS, 0), (STEPS, 15 * MS * STEPS), (STEPS, 5 * MS * STEPS)])
    process.for_loop(process.loop(train, 6, 8), 0, [20 * MS] * STEPS)
    data, step = process.function(asked, line=2), process.function("train", line=5)
    in_data = process.node(data, process.node(step, line=7), line=4)
    in_model = process.node(step, line=8)
    for number in range(STEPS):
        at = number * 20 * MS
        process.sample(in_data, at, 15 * MS, count=15)
        process.sample(in_model, at + 15 * MS, 5 * MS, count=5)
        forward_ns = at + (2 if in_forward else 16) * MS
        process.span(SpanCategory.FORWARD, forward_ns, at + 19 * MS)
        process.span(SpanCategory.OPTIMIZER, at + 19 * MS, at + 20 * MS, number=1)
    process.write(STEPS * 20 * MS)
    run = load(path)
    assert run.main is not None
    return Case(run, run.main)


@pytest.mark.parametrize(
    ("line", "asked", "kind", "is_input"),
    [
        ("batch = data[number]", "Data.__getitem__", "function", True),
        ("batch = next(stream)", "Data.stream", "generator", True),
        ("batch = self.next(stream)", "Data.stream", "generator", False),
        ("batch = find_next(stream)", "Data.stream", "function", False),
    ],
)
def test_what_the_step_asks_a_data_set_of_the_scripts_own_for_is_waiting_for_a_batch(
    line: str, asked: str, kind: str, is_input: bool, tmp_path: Path
) -> None:
    case = asking(tmp_path / "run", line, asked=asked, kind=kind)
    found = judge(case)
    assert [each.id for each in found] == (["input-bound"] if is_input else [])
    if is_input:
        assert found[0].location is not None
        assert found[0].location.function == asked
        assert found[0].saving.expected == pytest.approx(15 * MS, rel=0.02)


def test_what_trains_is_no_reader(tmp_path: Path) -> None:
    line, asked = "batch = data[number]", "Data.__getitem__"
    case = asking(tmp_path / "run", line, asked=asked, kind="function", in_forward=True)
    assert judge(case) == []


def test_a_loop_in_the_reader_is_the_other_way_to_save_the_same_time(tmp_path: Path) -> None:
    line, asked = "batch = data[number]", "Data.__getitem__"
    case = asking(tmp_path / "run", line, asked=asked, kind="function")
    waits, loop = findings(case.run).findings
    assert [waits.id, loop.id] == ["input-bound", "python-hot-loop"]
    assert waits.location == loop.location
    assert loop.then == "the same time as input-bound: fix one of the two"
    assert loop.speedup.expected <= waits.speedup.expected
