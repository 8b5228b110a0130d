"""A function that JAX jits again and again is jitted once, and computes the same."""

from pathlib import Path

import needs
from trial.scripts import run_with

PROGRAM = Path(__file__).parents[2] / "programs" / "trial" / "jit_again.py"


def test_new_functions_with_the_same_code_share_one_compilation(tmp_path: Path) -> None:
    needs.require("jax")
    plain = run_with(PROGRAM, fixes={}, into=tmp_path / "plain")
    once = run_with(PROGRAM, fixes={"jit-once": {}}, into=tmp_path / "once")
    *before, traced_before = plain.stdout.splitlines()
    *after, traced_after = once.stdout.splitlines()
    assert after == before
    assert traced_before == "{'update': 6, 'measure': 6, 'branch': 6}"
    assert traced_after == "{'update': 1, 'measure': 1, 'branch': 3}"
    assert once.applied("jit-once") == "update is jitted once"
    assert once.refused("jit-once") is None
