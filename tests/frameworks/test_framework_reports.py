"""What a framework reports overrides what can be guessed: evaluation, samples."""

import json
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.running import PROGRAMS, record, show

needs.module("lightning")
needs.module("transformers")


@pytest.fixture(scope="module")
def lightning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(PROGRAMS / "lightning/fit.py", tmp_path_factory.mktemp("runs") / "fit")


def steps_of(folder: Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(show(folder, "steps", "--each", "--json"))
    return answer


def test_the_sanity_check_before_the_first_step_is_no_part_of_it(lightning: Path) -> None:
    """An epoch's validation is part of the step that follows."""
    each = steps_of(lightning)["each"]
    evaluated = [step["phases"].get("evaluation", 0) > 0 for step in each]
    assert [number for number, has in enumerate(evaluated) if has] == [24]


def test_steps_and_evaluation_have_their_own_parts_of_the_run(lightning: Path) -> None:
    answer = json.loads(show(lightning, "summary", "--json"))
    parts = {part["category"]: part["ns"] for part in answer["parts"]}
    each = steps_of(lightning)["each"]
    in_steps = sum(step["duration_ns"] for step in each)
    elsewhere = sum(
        step["phases"].get(name, 0) for step in each for name in ("evaluation", "checkpoint")
    )
    assert 0.99 * (in_steps - elsewhere) <= parts["steps"] <= in_steps  # imports while saving
    assert parts["evaluation"] > sum(step["phases"].get("evaluation", 0) for step in each)
    assert sum(parts.values()) == pytest.approx(answer["wall_ns"], rel=0.001)


def test_accumulated_batches_are_all_counted(tmp_path: Path) -> None:
    """Hugging Face's Trainer fetches the batches of a step before it trains on the first."""
    folder = record(PROGRAMS / "transformers/fit.py", tmp_path / "run")
    rate = steps_of(folder)["rate"]
    assert rate["samples_per_s"] == pytest.approx(3 * 32 * rate["per_s"])
