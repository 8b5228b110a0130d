"""What a step reads and writes is blamed where it is spent, whatever phase it happens in."""

from pathlib import Path

import pytest

from build import MS, ProcessBuilder, RunBuilder
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.store.format import SpanCategory

STEPS = 40
PASSES = {
    SpanCategory.INPUT: (0, 2),
    SpanCategory.FORWARD: (2, 14),
    SpanCategory.BACKWARD: (14, 17),
    SpanCategory.OPTIMIZER: (17, 18),
}
INLINE = "def forward(self, x):\n    data = load(name)\n    return x * data\n"
WITH = "def read(name):\n    with open(name) as file:\n        return file.read()\n"


def trained(path: Path, passes: dict[SpanCategory, tuple[int, int]]) -> ProcessBuilder:
    """Turns of 20 ms with these spans."""
    process = RunBuilder(path).process()
    process.for_loop(process.loop(process.code(), 2, 9), 0, [20 * MS] * STEPS)
    for step in range(STEPS):
        for category, (start, end) in passes.items():
            at = 20 * step * MS
            number = 8 if category is SpanCategory.OPTIMIZER else 0
            process.span(category, at + start * MS, at + end * MS, name="Net", number=number)
    return process


def opens(
    process: ProcessBuilder, activation: tuple[float, float], *, at: float, text: str = WITH,
    lines: tuple[float, ...] = (0, 8), path: str = "data.npz", writing: bool = False,
) -> None:  # fmt: skip
    """Each step a file is opened in line 2, `at` ms, by an activation from and to these ms; lines 2
    and later take this long."""
    code = process.code("reads", file=process.file("/w/reads.py", text), first_line=1)
    process.lines(code, 1, [(STEPS, 0), *((STEPS, int(ms * STEPS * MS)) for ms in lines)])
    name = process.name("open", path=path, code=code, line=2)
    for step in range(STEPS):
        start, end, opened = (int((20 * step + ms) * MS) for ms in (*activation, at))
        process.opened(name, start, end, at_ns=opened, writing=writing)


def phases_ms(process: ProcessBuilder) -> dict[str, float]:
    process.write()
    answer = steps(load(process.run.path))
    found = {each.category: each.ms for each in answer.breakdown or []}
    assert sum(found.values()) == pytest.approx(20)
    return found


def test_a_file_read_by_a_function_of_the_forward_pass_is_files(tmp_path: Path) -> None:
    process = trained(tmp_path / "run", PASSES)
    opens(process, (3, 11), at=3)
    found = phases_ms(process)
    assert found["files"] == pytest.approx(8, abs=0.01)
    assert found["forward"] == pytest.approx(4, abs=0.01)


def test_of_a_forward_that_reads_only_the_reading_lines_are_files(tmp_path: Path) -> None:
    process = trained(tmp_path / "run", PASSES)
    opens(process, (2.1, 13.9), at=2.2, text=INLINE, lines=(5, 6.8))
    found = phases_ms(process)
    assert found["files"] == pytest.approx(5, abs=0.01)
    assert found["forward"] == pytest.approx(7, abs=0.01)


def test_a_training_step_that_reads_is_not_all_files(tmp_path: Path) -> None:
    """The passes lie inside the function that opens the file, with the body of a `with`."""
    text = "def step(x):\n    with open(name) as file:\n        data = file.read()\n    net(x)\n"
    process = trained(tmp_path / "run", PASSES | {SpanCategory.FORWARD: (10, 14)})
    opens(process, (2, 18), at=3, text=text, lines=(1, 5, 10))
    found = phases_ms(process)
    assert found["files"] == pytest.approx(6, abs=0.01)
    assert found["prepare"] == pytest.approx(2, abs=0.01)
    assert found["forward"] == pytest.approx(4, abs=0.01)


@pytest.mark.parametrize(
    "category",
    [
        SpanCategory.INPUT, SpanCategory.EVALUATION, SpanCategory.CHECKPOINT, SpanCategory.LOGGING,
        SpanCategory.COMPILE,
    ],
)  # fmt: skip
@pytest.mark.parametrize("writing", [True, False])
def test_files_of_other_work_stay_in_it(
    category: SpanCategory, writing: bool, tmp_path: Path
) -> None:
    passes = dict(PASSES)
    del passes[SpanCategory.INPUT]
    process = trained(tmp_path / "run", passes | {category: (18, 20)})
    opens(process, (18.1, 19.9), at=18.2, lines=(0, 1.8), writing=writing)
    found = phases_ms(process)
    assert "files" not in found
    assert found[category.name.lower()] == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize(
    ("path", "category"),
    [("loss.csv", "logging"), ("weights.npy", "checkpoint"), ("checkpoint.json", "checkpoint")],
)
def test_what_is_written_has_the_name_that_findings_give_it(
    path: str, category: str, tmp_path: Path
) -> None:
    process = trained(tmp_path / "run", PASSES)
    opens(process, (18, 20), at=18, lines=(0, 2), path=path, writing=True)
    assert phases_ms(process)[category] == pytest.approx(2, abs=0.01)


def test_a_line_that_opens_many_files_counts_once(tmp_path: Path) -> None:
    process = trained(tmp_path / "run", PASSES | {SpanCategory.FORWARD: (12, 14)})
    code = process.code("<module>", kind="module")
    process.lines(code, 1, [(1, 0), (STEPS, 6 * STEPS * MS)])
    for file in range(5):
        name = process.name("open", path=f"{file}.npy", code=code, line=2)
        for step in range(STEPS):
            at = (20 * step + 3 + file) * MS
            process.opened(name, 0, None, at_ns=at)
    assert phases_ms(process)["files"] == pytest.approx(6, abs=0.01)


def test_logging_between_the_passes_does_not_end_the_forward_pass(tmp_path: Path) -> None:
    """The loss is computed before and after it."""
    passes = PASSES | {SpanCategory.FORWARD: (2, 10), SpanCategory.LOGGING: (11, 12)}
    found = phases_ms(trained(tmp_path / "run", passes))
    assert found["logging"] == pytest.approx(1, abs=0.01)
    assert found["forward"] == pytest.approx(12 - 1, abs=0.01)


# --- what the loader calls ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "category",
    [
        SpanCategory.FORWARD, SpanCategory.COMPUTE, SpanCategory.LOGGING, SpanCategory.CHECKPOINT,
        SpanCategory.SYNC,
    ],
)  # fmt: skip
def test_input_is_input_whatever_it_calls(category: SpanCategory, tmp_path: Path) -> None:
    process = trained(tmp_path / "run", PASSES)
    for step in range(STEPS):
        at = 20 * step * MS
        process.span(category, at + MS // 2, at + 3 * MS // 2, name="Normalize")
    found = phases_ms(process)
    assert found["input"] == pytest.approx(2, abs=0.01)
    assert found["forward"] == pytest.approx(12, abs=0.01)


def test_a_function_that_only_saves_is_saving_however_long_it_takes(tmp_path: Path) -> None:
    """Of the 20 ms, 14 are saving; in the mean of the run its line takes 16."""
    process = trained(tmp_path / "run", {})
    text = "def save(state):\n    savez(name, state)\n"
    opens(process, (5, 19), at=6, text=text, lines=(16,), path="model.npz", writing=True)
    assert phases_ms(process)["checkpoint"] == pytest.approx(14, abs=0.01)


def test_a_file_is_no_part_of_the_step_that_follows(tmp_path: Path) -> None:
    """The function does more than to save; its line takes 16 ms, of which 4 may lie in the step."""
    process = trained(tmp_path / "run", {})
    text = "def step(state):\n    savez(name, state)\n    update(state)\n"
    opens(process, (1, 19), at=16, text=text, lines=(16, 16), path="model.npz", writing=True)
    assert phases_ms(process)["checkpoint"] == pytest.approx(4, abs=0.01)
