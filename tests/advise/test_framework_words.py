"""Advice uses the terms of the framework that trains, and of no other."""

import re
from pathlib import Path

import pytest

from stepscope.advise.findings import findings
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.frameworks.facts import Advice
from stepscope.frameworks.table import COMPUTING, words_of
from stepscope.importers.runtime_names import framework_of
from xplane_writer import PlaneWriter, write

WORDS = {
    "torch": r"\btorch\.|DataLoader|\.item\(|Trainer\(|no_sync|non_blocking|CUDA graphs|\.float\(",
    "tensorflow": r"\btf\.|[Kk]eras|hvd\.|reduce_retracing|\.numpy\(",
    "jax": r"\bjax\b|jnp\.|block_until_ready|Flax",
}


@pytest.mark.parametrize("framework", [*COMPUTING, None])
def test_no_framework_is_advised_in_the_words_of_another(framework: str | None) -> None:
    others = "|".join(words for name, words in WORDS.items() if name != framework)
    for each in words_of(framework):
        said = each.fix if isinstance(each, Advice) else each
        assert not re.search(others, said), said


@pytest.mark.parametrize(
    ("names", "framework"),
    [
        (["PjitFunction(step)", "MatMul:MatMul"], "jax"),
        (["jit_step(123)"], "jax"),
        (["FunctionRun"], "tensorflow"),
        (["model/dense/MatMul:MatMul"], "tensorflow"),
        (["fusion.3", "Memcpy"], None),
    ],
)
def test_a_trace_is_of_the_framework_that_its_names_say(
    names: list[str], framework: str | None
) -> None:
    assert framework_of(names) == framework


@pytest.mark.parametrize(
    ("call", "framework"), [("PjitFunction(step)", "jax"), ("dense/MatMul:MatMul", "tensorflow")]
)
def test_a_trace_of_xla_gets_no_words_of_torch(tmp_path: Path, call: str, framework: str) -> None:
    host, device = PlaneWriter("/host:CPU"), PlaneWriter("/device:GPU:0")
    host.line(1, "python").event(call, 0, 10_000)
    device.line(2, "Stream #1").event("gemm", 0, 3_000)
    answer = findings(run_of_trace(write(tmp_path / "t.xplane.pb", host, device)), every=True)
    assert answer.findings
    for found in answer.findings:
        assert not re.search(WORDS["torch"], found.fix)
        assert found.trial in (None, "tf-mixed-precision")
    idle = next(each for each in answer.findings if each.id == "device-idle")
    assert idle.fix == words_of(framework).idle_device
