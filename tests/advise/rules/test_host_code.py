"""What counts as the user's own code between the passes, and how many steps have it."""

from pathlib import Path

from build import MS, RunBuilder
from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.host_code import judge
from stepscope.analyze.run import load
from stepscope.store.format import SpanCategory

STEPS, STEP = 100, 10 * MS
TRAINS, REPORTS = 3, 4  # lines


def judged(path: Path, *, own_line: int) -> list[Candidate]:
    """Steps of 10 ms: a pass of 7, the update, and 2 ms of Python at that line. The step loop has
    no stamps that fit: it turns five times a step."""
    process = RunBuilder(path).process()
    text = "import torch\nfor t in range(500):\n    learn(); update()\n    report()\n"
    code = process.code("<module>", file=process.file(text=text), kind="module")
    process.lines(code, 1, [(1, 0), (500, 0), (STEPS, 8 * MS * STEPS), (STEPS, 2 * MS * STEPS)])
    process.for_loop(process.loop(code, 2, 4), 0, [STEP // 5] * 5 * STEPS)
    module = process.function("<module>")
    passes, own = (process.node(module, line=line) for line in (TRAINS, own_line))
    for at in range(0, STEPS * STEP, STEP):
        process.span(SpanCategory.BACKWARD, at, at + 7 * MS, name="backward")
        process.span(SpanCategory.OPTIMIZER, at + 9 * MS, at + STEP, name="SGD", number=1)
        process.sample(passes, at, 7 * MS - 1, count=7)
        process.sample(own, at + 7 * MS, 2 * MS - 1, count=2)
    process.write()
    run = load(path)
    assert run.main is not None
    return judge(Case(run, run.main))


def test_a_line_of_its_own_is_in_as_many_steps_as_it_was_hit(tmp_path: Path) -> None:
    (found,) = judged(tmp_path / "run", own_line=REPORTS)
    assert found.location is not None
    assert found.location.line == REPORTS
    assert found.of == "step time"


def test_what_lies_between_the_passes_of_one_line_is_theirs(tmp_path: Path) -> None:
    assert judged(tmp_path / "run", own_line=TRAINS) == []
