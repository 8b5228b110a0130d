"""The report as one HTML file: its content, that nothing in it can run, and that it stays small."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import needs
from build import MS, RunBuilder
from show.a_training import STEP_NS, training
from show.hostile import MARK, SOURCE, hostile_run
from stepscope.analyze.answers.step_columns import MOST_STEPS, step_columns
from stepscope.analyze.answers.trees import trees
from stepscope.analyze.code.function_numbers import FunctionNumbers
from stepscope.analyze.run import load
from stepscope.analyze.timeline import tracks
from stepscope.analyze.timeline.run_timeline import MOST_IN_A_ROW, run_timeline
from stepscope.errors import EnvironmentTrouble
from stepscope.show.exporters.html import export
from stepscope.show.report import bundle
from stepscope.show.report.content import content
from stepscope.show.report.page import encoded, frame, policy, report

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def data_of(page: bytes) -> Any:
    found = DATA.search(page.decode())
    assert found
    return json.loads(found[1])


# --- what it holds --------------------------------------------------------------------------------


def test_every_step_is_there_with_its_phases(tmp_path: Path) -> None:
    run = load(training(tmp_path / "run", [STEP_NS] * 20).path)
    steps = step_columns(run)
    assert steps is not None
    assert steps.number == list(range(1, 21))
    assert steps.duration_ns == [STEP_NS] * 20
    sums = np.sum(list(steps.phases.values()), axis=0)
    assert sums.tolist() == steps.duration_ns
    assert steps.outliers == []


def test_a_step_far_slower_than_usual_is_reported_with_what_grew(tmp_path: Path) -> None:
    turns = [STEP_NS] * 30
    turns[20] = 10 * STEP_NS
    steps = step_columns(load(training(tmp_path / "run", turns).path))
    assert steps is not None
    assert steps.outliers == [20]
    assert steps.slow_phase == ["python"]


def test_a_group_with_a_slow_step_in_it_is_an_outlier(tmp_path: Path) -> None:
    turns = [2 * MS] * (MOST_STEPS + 10)
    turns[2001] = 100 * MS
    steps = step_columns(load(training(tmp_path / "run", turns).path))
    assert steps is not None
    assert (steps.group, steps.outliers) == (2, [1000])


def test_very_many_steps_come_as_means_of_groups(tmp_path: Path) -> None:
    steps = step_columns(load(training(tmp_path / "run", [2 * MS] * (MOST_STEPS + 10)).path))
    assert steps is not None
    assert steps.group == 2
    assert len(steps.number) == (MOST_STEPS + 10) // 2
    assert set(steps.duration_ns) == {2 * MS}


def test_lines_and_texts_are_those_of_the_run(tmp_path: Path) -> None:
    told = content(load(training(tmp_path / "run", [STEP_NS] * 12).path))
    assert [row[:3] for row in told.lines[0].rows] == [(4, 13, 0), (5, 12, 12 * STEP_NS)]
    assert told.sources == {"train.py": ["a = 1", "b = 2", "c = 3", "for x in y:", "    step(x)"]}
    assert told.trouble == []


def test_a_run_of_which_nothing_is_known_has_a_report_too(tmp_path: Path) -> None:
    told = content(load(RunBuilder(tmp_path / "run").path))
    assert told.trouble == []
    assert told.steps is None
    assert told.verdict


def test_trees_of_samples_have_the_time_of_their_thread(tmp_path: Path) -> None:
    found = trees(load(hostile_run(tmp_path / "run")), FunctionNumbers())
    assert [(tree.source, tree.total[0]) for tree in found] == [
        ("samples", 50 * MS), ("samples", 50 * MS), ("calls", 40 * MS),
    ]  # fmt: skip
    assert found[2].calls == [3]


def test_the_timeline_has_steps_stacks_and_files_on_one_clock(tmp_path: Path) -> None:
    timeline = run_timeline(load(hostile_run(tmp_path / "run"))).whole()
    lanes = {lane.kind: lane for lane in timeline.lanes}
    assert {"step", "region", "file", "stack"} <= lanes.keys()
    steps = lanes["step"]
    began = (np.cumsum(steps.start)[:3] - timeline.main_ns).tolist()
    assert began == [10 * MS, 15 * MS, 20 * MS]
    assert steps.lasted[:3] == [5 * MS] * 3
    assert [timeline.names[each] for each in steps.name[:2]] == ["step 1", "step 2"]


def test_of_very_many_steps_neighbours_share_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracks, "_MOST_STEP_NAMES", 4)
    timeline = run_timeline(load(training(tmp_path / "run", [2 * MS] * 10).path)).whole()
    steps = next(lane for lane in timeline.lanes if lane.kind == "step")
    names = [timeline.names[each] for each in steps.name]
    assert names == [*["steps 1 to 3"] * 3, *["steps 4 to 6"] * 3, *["steps 7 to 9"] * 3, "step 10"]


def test_a_long_timeline_is_reduced_and_says_so_and_tiles_have_all(tmp_path: Path) -> None:
    many = MOST_IN_A_ROW * 3
    run = load(training(tmp_path / "run", [2 * MS] * many).path)
    timeline = run_timeline(run)
    whole = next(lane for lane in timeline.whole().lanes if lane.kind == "step")
    assert len(whole.start) <= MOST_IN_A_ROW < whole.spans == many
    assert sum(whole.count or []) == many
    assert not content(run).reduced
    first = 10 * MS
    tile = timeline.tile(first + 100 * MS, first + 120 * MS, 1000)
    steps = next(lane for lane in tile.lanes if lane.kind == "step")
    assert steps.count is None
    assert set(steps.lasted) == {2 * MS}
    assert 10 <= len(steps.start) <= 12


@needs.page
def test_a_file_says_that_it_does_not_hold_every_span(
    tmp_path: Path,
) -> None:
    told = content(load(training(tmp_path / "run", [2 * MS] * MOST_IN_A_ROW * 2).path))
    assert not told.reduced
    reduced = data_of(report(told))["content"]["reduced"]
    assert any("stepscope view" in note for note in reduced)


# --- safety ---------------------------------------------------------------------------------------


@needs.page
def test_names_that_look_like_html_stay_inside_the_data(tmp_path: Path) -> None:
    page = export(load(hostile_run(tmp_path / "run"))).decode()
    outside = DATA.sub("", page)
    assert MARK not in outside
    inside = DATA.search(page)
    assert inside
    assert "<" not in inside[1]
    assert data_of(page.encode())["content"]["sources"]  # and it is all there


@needs.page
def test_the_policy_allows_this_script_and_style_and_no_request(tmp_path: Path) -> None:
    page = export(load(hostile_run(tmp_path / "run"))).decode()
    parts = bundle.bundle()
    for text in parts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy(parts, connects=False)
        assert text in page
    assert f'content="{policy(parts, connects=False)}"' in page
    assert "default-src 'none'" in page
    assert "connect-src 'none'" in page
    assert "unsafe" not in policy(parts, connects=True)


@needs.page
def test_the_file_names_no_other_place(tmp_path: Path) -> None:
    page = export(load(hostile_run(tmp_path / "run"))).decode()
    outside = DATA.sub("", page)
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", outside.split("<style>")[0])
    assert "</script" not in bundle.bundle().script.lower()
    assert "</style" not in bundle.bundle().style.lower()


@needs.page
def test_without_source_no_line_of_it_is_in_the_file(tmp_path: Path) -> None:
    run = load(hostile_run(tmp_path / "run"))
    page = export(run, with_source=False).decode()
    told = data_of(page.encode())["content"]
    assert told["sources"] is None
    lines = [line.strip() for line in SOURCE.splitlines()]
    text = json.dumps(told, ensure_ascii=False)
    assert not [line for line in lines if json.dumps(line, ensure_ascii=False)[1:-1] in text]
    assert told["lines"]


def test_what_utf8_cannot_hold_becomes_an_escape() -> None:
    assert json.loads(encoded({"name": "a\udcffb"})) == {"name": "a\udcffb"}


@needs.page
def test_in_a_notebook_the_report_is_shut_in(tmp_path: Path) -> None:
    html = frame(content(load(hostile_run(tmp_path / "run"))))
    assert html.startswith('<iframe title="stepscope" sandbox="allow-scripts" srcdoc="')
    inside = html.split('srcdoc="', 1)[1].split('"', 1)[0]
    assert "<" not in inside
    assert ">" not in inside


# --- size, and the message without its page -------------------------------------------------------


@needs.page
def test_a_small_run_makes_a_small_file(tmp_path: Path) -> None:
    page = report(content(load(training(tmp_path / "run", [STEP_NS] * 100).path)))
    assert len(page) < 600_000


def test_without_its_page_html_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "FOLDER", tmp_path / "nothing")
    run = load(training(tmp_path / "run", [STEP_NS] * 12).path)
    with pytest.raises(EnvironmentTrouble, match="Install a wheel"):
        export(run)
