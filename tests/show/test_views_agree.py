"""What several views say about one run is the same in all of them."""

import io
import json
from pathlib import Path

import numpy as np
import polars
import pytest
from rich.console import Console

from show.a_training import STEP_NS, training
from show.exporters.traced import two_ranks
from stepscope.advise.findings import findings
from stepscope.analyze.answers.parquet_tables import steps_table
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import load
from stepscope.analyze.timeline.run_timeline import run_timeline
from stepscope.model.durations import duration
from stepscope.show.exporters import chrome
from stepscope.show.report.content import content
from stepscope.show.terminal.findings import findings as draw_findings
from stepscope.show.terminal.steps import steps as draw_steps
from stepscope.show.terminal.summary import summary

CATEGORIES = {  # Chrome's names for our kinds
    "step": "step",
    "phase": "phase",
    "regions": "region",
    "actions": "action",
    "input stages": "stage",
    "line": "line",
    "window": "window",
}


@pytest.mark.parametrize("times", [1.8, 2.5])
def test_page_and_findings_name_the_same_slow_steps(tmp_path: Path, times: float) -> None:
    turns = [STEP_NS] * 30
    turns[12] = turns[20] = int(times * STEP_NS)
    page = content(load(training(tmp_path / "run", turns).path))
    assert page.steps is not None
    assert page.findings is not None
    assert page.steps.outliers == sorted(each.step for each in page.findings.outliers)
    assert page.steps.outliers == ([12, 20] if times > 2 else [])


def test_a_slow_step_has_one_number_everywhere(tmp_path: Path) -> None:
    """The 21st of 30, counted from 1 and with the warm-up."""
    turns = [STEP_NS] * 30
    turns[20] = 5 * STEP_NS
    run = load(training(tmp_path / "run", turns).path)
    each = steps(run, each=True).each
    assert isinstance(each, list)
    assert [step.number for step in each if step.duration_ns > 2 * STEP_NS] == [21]
    (slow,) = findings(run).outliers
    assert slow.number == 21
    page = content(run)
    assert page.steps is not None
    assert [page.steps.number[at] for at in page.steps.outliers] == [21]
    exported = json.loads(b"".join(chrome.export(run)))["traceEvents"]
    longest = max((each for each in exported if each.get("cat") == "step"), key=lambda e: e["dur"])
    assert longest["name"] == "step 21"
    numbers = polars.Series(steps_table(run).sort("duration_ns")["step"])
    assert numbers[-1] == 21
    out = io.StringIO()
    Console(file=out, width=110).print(draw_steps(steps(run, each=True), table=True))
    Console(file=out, width=110).print(draw_findings(findings(run)))
    assert "(step 21)" in out.getvalue()
    slowest = duration(5 * STEP_NS)
    rows = [line for line in out.getvalue().splitlines() if line.split()[:1] == ["21"]]
    assert len(rows) == 2  # of each step, and of the slow ones
    assert all(slowest in row for row in rows)


def test_page_and_terminal_begin_with_the_same_sentence_where_nothing_is_judged(
    tmp_path: Path,
) -> None:
    page = content(load(training(tmp_path / "run", [40 * STEP_NS] * 4).path))
    assert not page.summary.steps.measured
    out = io.StringIO()
    Console(file=out, width=110).print(summary(page.summary, page.findings))
    assert page.verdict.endswith(" of the run is one line: train.py:5 step(x)")
    assert page.verdict in " ".join(out.getvalue().split())


def test_page_and_chrome_trace_have_the_same_spans(tmp_path: Path) -> None:
    run = load(two_ranks(tmp_path / "run"))
    exported = json.loads(b"".join(chrome.export(run)))["traceEvents"]
    in_trace = sorted(
        (CATEGORIES[each["cat"]], round(each["ts"] * 1000), round(each["dur"] * 1000))
        for each in exported
        if each["ph"] == "X" and each["cat"] in CATEGORIES
    )
    on_page = sorted(
        (lane.kind, start, lasted)
        for lane in run_timeline(run).whole().lanes
        if lane.kind in CATEGORIES.values()
        for start, lasted in zip(np.cumsum(lane.start).tolist(), lane.lasted, strict=True)
    )
    assert in_trace == on_page
    assert {kind for kind, _, _ in on_page} == set(CATEGORIES.values())
