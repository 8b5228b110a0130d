"""What is said about precision, batch size and compilers where there is no device."""

import json
from pathlib import Path
from typing import Any

import pytest

from build import MS, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.launch.machine import machine_facts
from stepscope.store.format import SpanCategory

TORCH = "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py"


def reasons(
    path: Path, features: list[str] | None, library: str | None = TORCH, **more: Any
) -> dict[str, str]:
    """Of 40 steps of 10 ms, of which a framework's passes take 8."""
    machine = {"host": "here", "memory_bytes": 2**34, "cpu_features": features}
    run = RunBuilder(path, machine=machine, **more)
    process = run.process()
    code = process.code(file=process.file(text="for step in range(40):\n    model(x)\n"))
    process.for_loop(process.loop(code, 1, 2), 0, [10 * MS] * 40)
    node = process.node(process.function("train"), 0, 2)
    if library:
        node = process.node(process.function("Module.__call__", file=library), node, 9)
    for step in range(40):
        at = step * 10 * MS
        process.sample(node, at - MS // 2, 10 * MS, count=10)
        if library:
            process.span(SpanCategory.FORWARD, at, at + 4 * MS)
            process.span(SpanCategory.BACKWARD, at + 4 * MS, at + 8 * MS)
            process.span(SpanCategory.OPTIMIZER, at + 8 * MS, at + 9 * MS, number=1)
    process.write()
    if "command" in more:
        run.supervisor(ended_ns=401 * MS)
    return {each.id: each.reason for each in findings(load(run.path)).not_judged}


def test_a_trial_measures_what_16_bit_units_gain(tmp_path: Path) -> None:
    said = reasons(tmp_path / "run", ["avx2", "avx512_bf16"])["no-mixed-precision"]
    assert said.startswith("no device in this run")
    assert "avx512_bf16" in said
    assert "stepscope try --fixes mixed-precision" in said


def test_a_cpu_without_such_units_has_nothing_to_gain(tmp_path: Path) -> None:
    said = reasons(tmp_path / "run", ["avx2", "fma"])["no-mixed-precision"]
    assert "no 16-bit units" in said
    assert "stepscope try" not in said


def test_of_older_runs_the_units_are_not_known(tmp_path: Path) -> None:
    said = reasons(tmp_path / "run", None)["no-mixed-precision"]
    assert "stepscope try --fixes mixed-precision" in said
    assert "units" not in said


def test_the_fix_is_the_one_of_the_framework(tmp_path: Path) -> None:
    keras = "/venv/lib/python3.11/site-packages/tensorflow/python/eager/execute.py"
    said = reasons(tmp_path / "run", ["amx_bf16"], keras)
    assert "stepscope try --fixes tf-mixed-precision" in said["no-mixed-precision"]
    assert "stepscope compare" in said["small-batch"]


def test_without_a_framework_there_is_nothing_to_try(tmp_path: Path) -> None:
    said = reasons(tmp_path / "run", ["amx_bf16"], None)["no-mixed-precision"]
    assert "stepscope try" not in said
    assert "framework" in said


def test_a_trial_measures_larger_batches_and_does_not_call_that_the_same(tmp_path: Path) -> None:
    said = reasons(tmp_path / "run", ["avx2"])["small-batch"]
    assert "stepscope try --fixes larger-batch" in said
    assert "another training" in said


@pytest.mark.parametrize(
    ("framework", "command"),
    [
        ("torch", "`stepscope try --fixes compile train.py --epochs 3`"),
        ("tensorflow", "`stepscope try --fixes tf-xla train.py --epochs 3`"),
        ("jax", None),
    ],
)
def test_a_trial_measures_what_a_compiler_gains(
    tmp_path: Path, framework: str, command: str | None
) -> None:
    library = f"/venv/lib/python3.11/site-packages/{framework}/inner.py"
    words = ["train.py", "--epochs", "3"]
    said = reasons(tmp_path / "run", ["avx2"], library, command=words)["device-idle"]
    assert said.startswith("no device in this run")
    assert (command in said) if command else "stepscope try" not in said


def test_the_machines_units_are_recorded() -> None:
    features = machine_facts()["cpu_features"]
    flags = Path("/proc/cpuinfo")
    if features is None:
        pytest.skip("this system does not say")
    assert json.dumps(features)
    assert set(features) <= set(flags.read_text().split())
