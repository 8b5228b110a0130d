"""Training that does not happen in the script's own thread or process."""

import json
from pathlib import Path

import pytest

import needs
from frameworks.running import PROGRAMS, record, show

needs.module("torch")


@pytest.mark.parametrize(
    ("name", "steps"), [("trained_in_pool_threads", 40), ("trained_in_a_child", 50)]
)
def test_its_steps_and_phases_are_found(name: str, steps: int, tmp_path: Path) -> None:
    run = record(PROGRAMS / f"torch/{name}.py", tmp_path / "run")
    answer = json.loads(show(run, "steps", "--json"))
    assert answer["steps"] == steps
    phases = {row["category"]: row["ms"] for row in answer["breakdown"]}
    assert phases.keys() >= {"forward", "backward", "optimizer"}
    assert sum(phases.values()) == pytest.approx(answer["step_ms"]["mean"], rel=0.01)
