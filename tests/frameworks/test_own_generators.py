"""A slow generator of the script's own is input, and all views say the same of it."""

import json
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.running import PROGRAMS, record, show

needs.module("torch")


def answers_of(run: Path) -> dict[str, Any]:
    return {view: json.loads(show(run, view, "--json")) for view in ("steps", "input", "findings")}


def test_breakdown_finding_and_input_agree_on_it(tmp_path: Path) -> None:
    answers = answers_of(record(PROGRAMS / "torch/own_generator.py", tmp_path / "run"))
    waited = {row["category"]: row["share"] for row in answers["steps"]["breakdown"]}["input"]
    assert waited > 0.3
    found = {each["id"]: each for each in answers["findings"]["findings"]}
    if "python-hot-loop" in found:  # it takes 8 % of the step
        assert found["python-hot-loop"]["then"].startswith("the same time as input-bound")
    assert found["input-bound"]["share"] == pytest.approx(waited, abs=0.01)
    assert answers["input"]["loader"]["share"] == pytest.approx(waited, abs=0.001)
    function = answers["input"]["lines"][0]["function"]
    assert function == found["input-bound"]["location"]["function"]
    assert function in ("encoded", "batches")
