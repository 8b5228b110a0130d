"""The list of runs: figures that a report left, and the change against the run before."""

import json
from pathlib import Path

import pytest

from build import run_of_steps
from stepscope.analyze.answers.run_list import RunEntry, RunFigures, run_entry, with_changes
from stepscope.analyze.run import load
from stepscope.show.report.file import REPORT_FILE, write_report


def entry(name: str, per_s: float | None, script: str = "train.py", **rate: float) -> RunEntry:
    figures = RunFigures(
        verdict="", wall_ns=1, mean_step_ms=None, per_s=per_s,
        samples_per_s=rate.get("samples_per_s"),
    )  # fmt: skip
    return RunEntry(
        id=name, name=name, command=[], started_s=None, modified_s=0.0, is_running=False,
        script=script, figures=figures if per_s else None,
    )  # fmt: skip


def test_the_figures_of_a_report_are_listed(tmp_path: Path) -> None:
    run_of_steps(tmp_path / "run", 20)
    assert run_entry("run", tmp_path / "run").figures is None
    write_report(load(tmp_path / "run"), str(tmp_path / "run" / REPORT_FILE))
    figures = run_entry("run", tmp_path / "run").figures
    assert figures is not None
    assert figures.mean_step_ms == pytest.approx(2.0)
    assert figures.verdict


def test_a_run_is_compared_with_the_one_of_the_same_script_before_it() -> None:
    newest_first = [
        entry("c", 30.0),
        entry("other", 1.0, "eval.py"),
        entry("b", None),
        entry("a", 10.0),
    ]
    changes = {each.name: each.change for each in with_changes(newest_first)}
    assert changes == {"a": None, "b": None, "other": None, "c": 3.0}


def test_samples_count_where_both_runs_have_them() -> None:
    newest_first = [entry("b", 5.0, samples_per_s=400.0), entry("a", 10.0, samples_per_s=200.0)]
    assert with_changes(newest_first)[0].change == 2.0


def test_damaged_figures_are_ignored(tmp_path: Path) -> None:
    run_of_steps(tmp_path / "run", 20)
    (tmp_path / "run" / "tables").mkdir()
    (tmp_path / "run" / "tables" / "figures.json").write_text('{"verdict": 1')
    assert run_entry("run", tmp_path / "run").figures is None


def test_the_list_says_how_each_run_ended(tmp_path: Path) -> None:
    run = run_of_steps(tmp_path / "run", 5)
    ended = {"pid": 1, "exit_status": 3, "signal": None}
    (run / "supervisor.json").write_text(json.dumps(ended))
    assert run_entry("run", run).status == "failed (3)"
    (run / "supervisor.json").write_text(json.dumps(ended | {"signal": "SIGKILL"}))
    assert run_entry("run", run).status == "killed"
    (run / "supervisor.json").write_text(json.dumps(ended | {"exit_status": 0}))
    assert run_entry("run", run).status == "ended"
    (run / "supervisor.json").write_text("[]")
    assert run_entry("run", run).status is None
