"""A long teardown is explained: what ran after the last step."""

from pathlib import Path

from build import MS, RunBuilder
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.run import load
from stepscope.store.format import SpanCategory


def notes(path: Path, *, after_ms: int, ended_ms: int) -> list[str]:
    """30 steps of 10 ms; then export.py's line 7 for `after_ms`, and the interpreter ends."""
    run = RunBuilder(path)
    process = run.process()
    for number in range(31):
        process.step(end_ns := number * 10 * MS, begins=number == 0)
    code = process.code("export", file=process.file("/home/ada/project/export.py"))
    process.lines(code, 7, [(1, after_ms * MS)])
    node = process.node(process.function("export", file="/home/ada/project/export.py"), line=7)
    process.span(SpanCategory.PROFILER, end_ns, end_ns + 500 * MS)
    process.sample(node, end_ns + 500 * MS, after_ms * MS, count=max(1, after_ms // 10))
    process.write()
    run.supervisor(ended_ns=ended_ms * MS)
    return summary(load(run.path)).notes


def test_what_takes_long_after_the_last_step_is_named(tmp_path: Path) -> None:
    (note,) = notes(tmp_path / "run", after_ms=5_000, ended_ms=8_800)
    assert note == (
        "Teardown (all that follows the last step) took 8.50 s: 5.00 s in export "
        "(export.py:7), 3.00 s in the interpreter's shutdown."
    )


def test_a_short_teardown_needs_no_words(tmp_path: Path) -> None:
    assert notes(tmp_path / "run", after_ms=100, ended_ms=950) == []
