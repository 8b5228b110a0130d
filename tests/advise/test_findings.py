"""The right finding at the right place, on trainings with one known fault each; none on good ones.

Which finding comes first and what it gains follows from times, so the faults are made large.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agreement import disagreements

PROGRAM = Path(__file__).parent.parent / "programs" / "advise" / "faults.py"
# Maps a kind to its finding, the function, and enough steps for a second or two.
FAULTS = {
    "repeated_load": ("repeated-load", "read_batch", "60"),
    "hot_loop": ("python-hot-loop", "clipped", "60"),
    "logging": ("logging-stall", "write_log", "40"),
    "checkpoint": ("checkpoint-stall", "save", "100"),
    "evaluation": ("evaluation-stall", "evaluate", "300"),
    "host": ("host-code", "spectrum", "100"),
    "generator": ("input-bound", "batches", "60"),
    "objects": ("gc-pressure", "Node.__init__", "80"),
    "collected": ("gc-pressure", "collected", "60"),
}

# What these blame is a category of the breakdown.
WITH_A_ROW = ("repeated_load", "logging", "checkpoint", "evaluation", "objects", "collected")


def findings(kind: str, folder: Path, *steps: str) -> dict[str, Any]:
    command: list[str | Path] = [sys.executable, "-m", "stepscope", "run", "--quiet"]
    command += ["-o", folder, PROGRAM, kind]
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([*command, *steps], check=True, capture_output=True, env=one_thread)
    return show(folder)


def show(folder: Path, *more: str) -> dict[str, Any]:
    words: list[str | Path] = [
        sys.executable,
        "-m",
        "stepscope",
        "show",
        folder,
        "findings",
        "--json",
        *more,
    ]
    answer: dict[str, Any] = json.loads(subprocess.check_output(words))
    return answer


@pytest.mark.parametrize("kind", FAULTS)
def test_the_fault_is_the_first_finding_at_its_place(kind: str, tmp_path: Path) -> None:
    id, function, steps = FAULTS[kind]
    answer = findings(kind, tmp_path / "run", steps)
    first = answer["findings"][0]
    assert first["id"] == id, answer
    assert first["location"]["function"] == function
    assert first["location"]["file"].endswith("faults.py")
    gain = first["speedup"]
    assert 1.03 <= gain["low"] <= gain["expected"]
    assert gain["high"] is None or gain["expected"] <= gain["high"]
    assert first["gain"].startswith("at least") == (gain["high"] is None)
    assert 0 < first["share"] <= 1
    assert first["evidence"]
    assert first["fix"]
    assert f"faults.py:{first['location']['line']}" in answer["verdict"]
    if kind in WITH_A_ROW:
        assert not disagreements(tmp_path / "run")


@pytest.mark.parametrize("kind", ["healthy", "recurrent"])
def test_a_sound_training_gets_a_clean_bill(kind: str, tmp_path: Path) -> None:
    answer = findings(kind, tmp_path / "run", "150")
    assert answer["findings"] == []
    assert "Nothing stands out" in answer["verdict"]


def test_memory_that_grows_is_reported_with_the_line_that_keeps_it(tmp_path: Path) -> None:
    answer = findings("memory", tmp_path / "run")
    found = {each["id"]: each for each in answer["findings"]}
    assert "kept.append" in found["memory-growth"]["source"]


def test_slow_steps_are_explained_one_by_one(tmp_path: Path) -> None:
    answer = findings("garbage", tmp_path / "run", "150")
    told = [each["why"] for each in answer["outliers"]]
    assert any("garbage" in why for why in told), answer


def test_too_few_steps_are_said_with_what_to_do(tmp_path: Path) -> None:
    answer = findings("healthy", tmp_path / "run", "3")
    assert answer["findings"] == []
    assert "longer" in answer["verdict"] or "stepscope.step()" in answer["verdict"]
    assert all(each["reason"] for each in answer["not_judged"])


def test_ids_are_known_and_none_is_judged_and_not_judged(tmp_path: Path) -> None:
    from stepscope.advise.findings import DEVICE_RULES, RULES, id_of

    answer = findings("hot_loop", tmp_path / "run")
    known = {id_of(name) for name in (*RULES, *DEVICE_RULES)}
    not_judged = {each["id"] for each in answer["not_judged"]}
    assert not_judged <= known
    assert "no-mixed-precision" in not_judged
    assert not not_judged & {each["id"] for each in answer["findings"]}
    everything = show(tmp_path / "run", "--all")
    assert len(everything["findings"]) >= len(answer["findings"])
