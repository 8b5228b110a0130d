"""The user's own step in a tf.function or under jax.jit: the losses stay, or it says why not."""

import ast
from pathlib import Path
from typing import Any

import pytest

import needs
from trial.scripts import ROOT, Tried, run_with

_PROGRAMS = ROOT / "tests" / "programs" / "trial"
pytestmark = pytest.mark.nightly  # frameworks and compilers in every process


def place(program: str, function: str) -> dict[str, Any]:
    tree = ast.parse((_PROGRAMS / program).read_text())
    node = next(each for each in tree.body if getattr(each, "name", None) == function)
    return {"file": program, "function": function, "first_line": node.lineno}


def run(into: Path, program: str, function: str, *fixes: str) -> Tried:
    where = place(program, function)
    wanted: dict[str, Any] = {name: {"function": where} for name in fixes}
    if "tf-xla" in wanted:
        wanted["tf-xla"] = {"functions": [where]}
    tried = run_with(_PROGRAMS / program, function, fixes=wanted, into=into)
    assert tried.status == 0, tried.stderr
    return tried


def losses(tried: Tried) -> list[float]:
    return [float(line) for line in tried.stdout.split()]


@needs.package("tensorflow")
def test_a_step_runs_as_a_graph_and_under_xla_on_top_of_that(tmp_path: Path) -> None:
    plain = run(tmp_path / "plain", "tf_eager.py", "plain")
    graph = run(tmp_path / "graph", "tf_eager.py", "plain", "tf-function", "tf-xla")
    assert graph.applied("tf-function") == "tf.function(plain)"
    assert graph.applied("tf-xla") == "plain compiled with XLA"
    assert (graph.refused("tf-function"), graph.refused("tf-xla")) == (None, None)
    assert losses(graph) == pytest.approx(losses(plain), rel=1e-4)


@needs.package("tensorflow")
def test_a_step_that_cannot_become_a_graph_runs_as_before(tmp_path: Path) -> None:
    tried = run(tmp_path / "run", "tf_eager.py", "through_python", "tf-function")
    reason = "through_python cannot be compiled: TypeError: not a value"
    assert tried.refused("tf-function") == reason
    assert tried.applied("tf-function") is None
    assert len(losses(tried)) == 12


@needs.package("jax")
def test_an_update_is_jitted_and_its_losses_stay(tmp_path: Path) -> None:
    plain = run(tmp_path / "plain", "jax_eager.py", "update")
    jitted = run(tmp_path / "jitted", "jax_eager.py", "update", "jit")
    assert jitted.applied("jit") == "jax.jit(update)"
    assert jitted.refused("jit") is None
    assert losses(jitted) == pytest.approx(losses(plain), rel=1e-4)


@needs.package("jax")
def test_an_update_that_asks_for_values_runs_as_before(tmp_path: Path) -> None:
    tried = run(tmp_path / "run", "jax_eager.py", "branching", "jit")
    assert (tried.refused("jit") or "").startswith(
        "branching cannot be compiled: TracerBoolConversionError: "
    )
    assert tried.applied("jit") is None
    assert len(losses(tried)) == 12
