"""What to ask next: decided by what a run has, what it waits for, and what was found."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from build import MS, RunBuilder
from hand_made_answers import FINDINGS, SUMMARY
from stepscope.analyze.answers.next_questions import next_questions
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.run import load
from stepscope.model import Share, SummaryAnswer
from stepscope.model.findings import Finding, FindingsAnswer
from stepscope.show.report.content import content
from stepscope.store.format import SpanCategory

RUN = SUMMARY.run
EVERYTHING = ["lines", "files", "memory", "input", "ranks", "actions", "ops"]


def changed(answer: Any, **fields: Any) -> Any:
    return msgspec.structs.replace(answer, **fields)


def of_run(**fields: Any) -> SummaryAnswer:
    answer: SummaryAnswer = changed(SUMMARY, **fields)
    return answer


def advice(*found: tuple[str, str | None], measured: bool = False) -> FindingsAnswer:
    findings: list[Finding] = [
        changed(FINDINGS.findings[0], id=id, trial=trial, measured=measured) for id, trial in found
    ]
    answer: FindingsAnswer = changed(FINDINGS, findings=findings)
    return answer


def commands(answer: SummaryAnswer, found: FindingsAnswer | None = None) -> list[str]:
    return [
        each.command.replace(f" {RUN}", "").removeprefix("stepscope ")
        for each in next_questions(answer, found)
    ]


def test_a_run_without_anything_special_has_its_lines_steps_and_files() -> None:
    assert commands(SUMMARY) == ["show findings", "show files", "show lines", "show steps --each"]


def test_a_finding_that_can_be_tried_comes_with_the_very_command() -> None:
    answer = of_run(command=["-m", "my.train", "--name", "a b"], can_repeat=True)
    found = advice(("host-code", "fewer-calls"))
    assert commands(answer, found)[:2] == ["show findings", "try -m my.train --name 'a b'"]


@pytest.mark.parametrize(
    ("can_repeat", "trial", "measured"),
    [(False, "fewer-calls", False), (True, None, False), (True, "fewer-calls", True)],
)
def test_what_cannot_be_tried_or_was_is_compared_after_the_change(
    can_repeat: bool, trial: str | None, measured: bool
) -> None:
    found = advice(("host-code", trial), measured=measured)
    asked = commands(of_run(can_repeat=can_repeat), found)
    assert asked[-1] == "compare AFTER"
    assert not any(each.startswith("try") for each in asked)


def test_views_that_matter_for_this_run_come_before_those_that_every_run_has() -> None:
    waiting = [Share(category="input", share=0.06, ms=1.0, device_ms=None)]
    steps = changed(SUMMARY.steps, breakdown=waiting)
    answer = of_run(has=EVERYTHING, steps=steps, can_repeat=True)
    found = advice(("memory-growth", None), ("host-code", "fewer-calls"))
    assert commands(answer, found) == [
        "show findings", "try train.py --epochs 1", "show memory", "show input", "show ranks",
        "show lines",
    ]  # fmt: skip


def test_operators_and_actions_are_named_where_they_were_recorded() -> None:
    quiet = changed(SUMMARY.steps, breakdown=[])
    answer = of_run(has=["lines", "files", "actions", "ops"], steps=quiet)
    assert commands(answer) == [
        "show findings", "show actions", "show ops", "show lines", "show steps --each",
    ]  # fmt: skip


def test_a_wait_that_hardly_matters_is_not_named() -> None:
    short = [Share(category="input", share=0.04, ms=1.0, device_ms=None)]
    answer = of_run(has=EVERYTHING, steps=changed(SUMMARY.steps, breakdown=short))
    assert "show input" not in commands(answer)


def test_a_run_without_processes_needs_the_doctor() -> None:
    assert commands(of_run(processes=0)) == ["doctor"]


# --- what a run has -------------------------------------------------------------------------------


def recorded(path: Path, **fields: Any) -> RunBuilder:
    run = RunBuilder(path, **fields)
    process = run.process()
    process.span(SpanCategory.ACTION, 0, 9 * MS, name="fit")
    process.write(ended_ns=10 * MS)
    return run


def test_what_was_recorded_decides(tmp_path: Path) -> None:
    answer = summary(load(recorded(tmp_path / "run").path))
    assert answer.has == ["lines", "files", "input", "actions"]
    assert not answer.can_repeat  # nothing says that it was the whole script


def test_only_the_whole_script_can_be_tried_and_only_with_all_its_words(tmp_path: Path) -> None:
    for name, command, expected in (
        ("whole", ["train.py"], True), ("masked", ["train.py", "--api-key", "***"], False),
    ):  # fmt: skip
        run = recorded(tmp_path / name, command=command)
        run.supervisor(ended_ns=10 * MS)
        assert summary(load(run.path)).can_repeat is expected


def test_the_page_says_the_same_as_the_terminal(tmp_path: Path) -> None:
    run = load(recorded(tmp_path / "run").path)
    shown = content(run)
    assert shown.next == next_questions(shown.summary, shown.findings)
    assert shown.next[0].command.startswith("stepscope show ")
