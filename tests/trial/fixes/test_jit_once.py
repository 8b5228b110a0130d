"""A function that JAX jits again and again is jitted once, and computes the same."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import needs
from stepscope.analyze.source_text import parsed
from stepscope.trial.fixes.proposing.jit_calls import may_jit_again
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


@pytest.mark.parametrize(
    ("script", "again"),
    [
        ("@partial(jax.jit, static_argnames='lr')\ndef step(x):\n return x\n", False),
        ("step = jax.jit(update)\n", False),
        ("def updater(rate):\n return jax.jit(lambda x: rate * x)\n", True),
        ("def measure():\n @jit\n def error(x):\n  return x\n return error\n", True),
        ("for epoch in range(6):\n step = jax.jit(update)\n", True),
    ],
)
def test_what_is_jitted_at_the_top_of_a_module_is_jitted_once(script: str, again: bool) -> None:
    text = parsed(script.splitlines())
    sources: Any = SimpleNamespace(files=["train.py"], text=lambda _: text)
    assert may_jit_again(sources) == again
