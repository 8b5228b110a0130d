"""How a line's time was spent, as the samples saw it."""

from pathlib import Path

import numpy as np
import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.code.line_samples import line_samples
from stepscope.analyze.code.sampled_stacks import Stacks
from stepscope.analyze.run import load
from stepscope.model.page import LineSamples
from stepscope.store.format import SamplesKind

PATH = "/home/ada/project/train.py"


@pytest.fixture
def process(tmp_path: Path) -> ProcessBuilder:
    return RunBuilder(tmp_path / "run").process()


def seen_in(process: ProcessBuilder, *looks: tuple[SamplesKind, int]) -> LineSamples:
    """A line that was seen doing these things for so many ms each."""
    process.file(PATH)
    node = process.node(process.function("main", file=PATH), line=3)
    at_ms = 0
    for kind, ms in looks:
        process.sample(node, at_ms * MS, ms * MS, kind=kind)
        at_ms += ms
    process.write()
    (found,) = line_samples(load(process.run.path))
    return found


def parts(line: LineSamples) -> list[float | None]:
    return [
        None if each is None else each / MS
        for each in (line.python_ns, line.native_ns, line.waiting_ns)
    ]


def test_a_lines_time_is_its_own_or_that_of_calls(tmp_path: Path) -> None:
    """4 ms in line 3 itself, then 6 ms asleep in a library that line 5 called."""
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    process.file(PATH)
    main = process.function("main", file=PATH)
    library = process.function("load", file="/usr/lib/python3.11/json/decoder.py")
    own, caller = process.node(main, line=3), process.node(main, line=5)
    process.sample(own, 0, 4 * MS, kind=SamplesKind.PYTHON)
    inner = process.node(library, caller, line=12)
    process.sample(inner, 4 * MS, 6 * MS, kind=SamplesKind.WAITING)
    process.write(ended_ns=24 * MS)
    found = {each.line: each for each in line_samples(load(run.path))}
    assert set(found) == {3, 5}
    assert (found[3].own_ns, found[3].calls_ns, parts(found[3])) == (4 * MS, 0, [4, 0, 0])
    assert (found[5].own_ns, found[5].calls_ns, parts(found[5])) == (0, 6 * MS, [0, 0, 6])
    assert found[5].course == [0] * 7 + [15] + [0] * 16


def test_looks_that_know_nothing_are_spread_over_the_others(process: ProcessBuilder) -> None:
    line = seen_in(
        process, (SamplesKind.PYTHON, 3), (SamplesKind.SAMPLE, 8), (SamplesKind.NATIVE, 1)
    )
    assert line.own_ns == 12 * MS
    assert parts(line) == [9, 3, 0]


def test_runs_of_before_say_nothing_about_a_lines_parts(process: ProcessBuilder) -> None:
    assert parts(seen_in(process, (SamplesKind.SAMPLE, 8))) == [None, None, None]


def test_a_stack_goes_on_whatever_the_thread_does_there(process: ProcessBuilder) -> None:
    """A timeline draws one call, not one for each time the thread entered C."""
    seen_in(process, (SamplesKind.PYTHON, 3), (SamplesKind.NATIVE, 2), (SamplesKind.PYTHON, 4))
    (apart,) = Stacks(load(process.run.path).processes[0]).by_thread(kinds_apart=True)
    (joined,) = Stacks(load(process.run.path).processes[0]).by_thread()
    assert np.array_equal(apart.weight_ns, [3 * MS, 2 * MS, 4 * MS])
    assert (joined.weight_ns.tolist(), joined.counts.tolist()) == ([9 * MS], [3])
