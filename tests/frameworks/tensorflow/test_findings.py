"""TensorFlow: findings about graphs."""

import json
from pathlib import Path

import pytest

import needs
from frameworks.running import PROGRAMS, record, show


@pytest.mark.nightly
def test_a_loop_that_the_graph_calls_is_reported_once(tmp_path: Path) -> None:
    needs.require("tensorflow")
    folder = record(PROGRAMS / "tf" / "python_in_graph.py", tmp_path / "run")
    found = json.loads(show(folder, "findings", "--json", "--all"))["findings"]
    there = [each["id"] for each in found if (each["location"] or {}).get("function") == "sure_of"]
    assert there == ["python-in-graph"]
