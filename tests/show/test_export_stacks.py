"""Stacks for other tools: collapsed lines, and speedscope's JSON in its published form."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from build import MS, RunBuilder
from speedscope_format import Sampled, checked
from stepscope.analyze.run import load
from stepscope.cli.export import command
from stepscope.errors import InputError
from stepscope.show.exporters import collapsed, speedscope
from stepscope.store.reader import Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    builder = RunBuilder(tmp_path / "run")
    process = builder.process()
    main = process.node(process.function("main", line=3))
    load_ = process.node(process.function("Data;set.load", line=9), main)
    wait = process.node(process.function("wait", file="/usr/lib/python3.12/threading.py"))
    process.sample(main, 0, 10 * MS)
    process.sample(load_, 10 * MS, 30 * MS)
    process.sample(load_, 60 * MS, 20 * MS)  # no samples for 20 ms
    process.sample(wait, 5 * MS, 40 * MS, thread=process.thread("loader 1"))
    process.write(100 * MS)
    return load(builder.path)


# --- collapsed ---------------------------------------------------------------------------------


def test_collapsed_stacks_have_one_line_each_with_microseconds(run: Run) -> None:
    assert collapsed.export(run).decode().splitlines() == [
        "MainThread;main (train.py:3) 10000",
        "MainThread;main (train.py:3);Data:set.load (train.py:9) 50000",
        "loader 1;wait (/usr/lib/python3.12/threading.py:1) 40000",
    ]


def test_a_collapsed_line_is_frames_a_space_and_a_number(run: Run) -> None:
    for line in collapsed.export(run).decode().splitlines():
        assert re.fullmatch(r"[^;\n]+(;[^;\n]+)* \d+", line)


# --- speedscope --------------------------------------------------------------------------------


def test_speedscopes_file_has_the_published_shape(run: Run) -> None:
    for profile in checked(speedscope.export(run)).profiles:
        assert isinstance(profile, Sampled)
        assert profile.startValue + sum(profile.weights) == profile.endValue


def test_each_thread_is_a_profile_on_one_time_line(run: Run) -> None:
    file = json.loads(speedscope.export(run))
    main, other = file["profiles"]
    assert [main["name"], other["name"]] == ["MainThread", "loader 1"]
    assert (main["startValue"], main["endValue"]) == (0, 80 * MS)
    assert (other["startValue"], other["endValue"]) == (5 * MS, 45 * MS)


def test_time_in_which_nobody_looked_is_a_gap(run: Run) -> None:
    main = json.loads(speedscope.export(run))["profiles"][0]
    assert main["weights"] == [10 * MS, 30 * MS, 20 * MS, 20 * MS]
    assert main["samples"] == [[0], [0, 1], [], [0, 1]]


# --- both --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file_format", "name"), [("collapsed", "run.collapsed"), ("speedscope", "run.speedscope.json")]
)
def test_export_writes_the_file_and_says_how_to_open_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, [str(run.path), "--to", file_format])
    assert done.exit_code == 0, done.output
    assert f"Wrote {name}. Open it with:" in done.output
    assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize("exporter", [collapsed, speedscope])
def test_a_run_without_stacks_is_refused_with_words(tmp_path: Path, exporter: Any) -> None:
    builder = RunBuilder(tmp_path / "run")
    builder.process().write(100 * MS)
    with pytest.raises(InputError, match="has no stacks to export"):
        exporter.export(load(builder.path))
