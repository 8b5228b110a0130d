"""Fixes for TensorFlow and Keras inside a script: what they say, and that results stay the same."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

import needs
from trial.scripts import PATIENCE_S, ROOT

pytestmark = [pytest.mark.nightly, needs.package("tensorflow"), needs.package("keras")]
_PROGRAM = ROOT / "tests" / "programs" / "trial" / "inside_tensorflow.py"
_IN_PARALLEL = "applied: map(scaled (inside_tensorflow.py:38), num_parallel_calls=AUTOTUNE)"
_PREFETCH = "applied: prefetch(AUTOTUNE)"

Found = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def found() -> Found:
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)])}
    ended = subprocess.run(
        [sys.executable, str(_PROGRAM)],
        env=variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert ended.returncode == 0, ended.stderr
    answer: Found = json.loads(ended.stdout)
    return answer


@pytest.mark.parametrize(
    ("pipeline", "cache"),
    [
        ("shuffled", "applied: cache() before shuffle"),
        ("in order", "applied: cache() before the end"),
        ("noisy", "applied: cache() before map(noisy (inside_tensorflow.py:42))"),
        ("endless", "refused: Repeat comes before the work, and what follows it cannot be kept."),
        (
            "filtered",
            "refused: How many elements the pipeline has is not known: memory may not suffice.",
        ),
    ],
)
def test_a_pipeline_gives_the_same_batches_from_a_cache_and_in_parallel(
    found: Found, pipeline: str, cache: str
) -> None:
    fixed = found[f"{pipeline} with both"]
    assert fixed["out"] == found[pipeline]["out"]
    assert fixed["said"] == sorted([cache, _IN_PARALLEL, _PREFETCH])


def test_python_in_a_pipeline_stays_in_line_and_is_not_kept(found: Found) -> None:
    fixed = found["python with both"]
    assert fixed["out"] == found["python"]["out"]
    assert fixed["out"][1] == 3 * 40  # calls
    assert fixed["said"] == [
        _PREFETCH,
        "refused: counted (inside_tensorflow.py:46) is random or has a state, and nothing before "
        "it takes long.",
    ]


def test_a_random_stage_is_made_parallel_only_where_it_is_known_to_be_random(found: Found) -> None:
    noisy = "applied: map(noisy (inside_tensorflow.py:42), num_parallel_calls=AUTOTUNE)"
    assert noisy in found["noisy in parallel"]["said"]
    assert noisy not in found["noisy with both"]["said"]


def test_sizes_and_numbers_that_change_need_few_tracings(found: Found) -> None:
    results, tracings = found["traced once"]["out"]
    assert (results, tracings) == (found["traced"]["out"][0], 3)
    assert found["traced"]["out"][1] == 6
    assert found["traced once"]["said"] == ["applied: train_step traced once"]


def test_xla_compiles_what_the_script_has_not_decided_about(found: Found) -> None:
    assert found["xla"]["said"] == ["applied: train_step compiled with XLA"]
    assert found["xla"]["out"][0] == pytest.approx(found["traced"]["out"][0], rel=1e-6)
    assert found["xla by itself"]["said"] == []


def test_what_xla_cannot_compile_runs_as_before_and_says_why(found: Found) -> None:
    assert found["xla of words"]["out"] == [9, 9]
    (said,) = found["xla of words"]["said"]
    assert said.startswith("refused: in_words cannot be compiled: InvalidArgumentError: Detected")


@pytest.mark.parametrize(
    ("case", "said", "about", "rel"),
    [
        ("fit eagerly", "compile(run_eagerly=False)", [False, False, 1], 1e-6),
        ("fit with xla", "compile(jit_compile=True)", [False, True, 1], 1e-6),
        ("fit many", "compile(steps_per_execution=5)", [False, False, 5], 1e-6),
    ],
)
def test_compile_gets_another_argument_and_the_losses_stay(
    found: Found, case: str, said: str, about: list[Any], rel: float
) -> None:
    losses, *rest = found[case]["out"]
    assert found[case]["said"] == [f"applied: {said}"]
    assert rest == [*about, "float32", "float32"]
    assert losses == pytest.approx(found["fit"]["out"][0], rel=rel)


def test_layers_compute_in_16_bits_and_the_model_returns_32(found: Found) -> None:
    losses, *_, returned, computed = found["fit in 16 bits"]["out"]
    assert (returned, computed) == ("float32", "bfloat16")
    assert losses != found["fit"]["out"][0]
    assert losses == pytest.approx(found["fit"]["out"][0], rel=1e-2)
    assert found["fit in 16 bits"]["said"] == ["applied: Sequential in bfloat16"]
