"""Findings in traces of the CPU, written by the frameworks' own profilers."""

import subprocess
import sys
from pathlib import Path

import pytest

import needs
from advise.test_traces import Made
from clean_environment import environment
from stepscope.advise.findings import findings
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.model.findings import FindingsAnswer

PROGRAMS = Path(__file__).parent.parent / "programs"


def made_by(program: str, folder: Path) -> Path:
    words = [sys.executable, str(PROGRAMS / program), str(folder)]
    subprocess.run(words, check=True, capture_output=True, env=environment({}))
    return folder


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs.require("torch")
    return made_by("torch/cpu_traces.py", tmp_path_factory.mktemp("traces"))


def judged(path: Path) -> FindingsAnswer:
    return findings(run_of_trace(path))


def reasons(answer: FindingsAnswer) -> dict[str, str]:
    return {each.id: each.reason for each in answer.not_judged}


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("input", "input-bound"),
        ("input_marked", "input-bound"),
        ("small", "eager-overhead"),
        ("double", "float64-compute"),
    ],
)
def test_the_fault_of_a_training_on_the_cpu_is_the_verdict(
    name: str, id: str, traces: Path
) -> None:
    answer = judged(traces / f"{name}.json")
    first = answer.findings[0]
    assert first.id == id, answer
    assert first.speedup.expected > 1.03
    assert "device" not in answer.verdict
    assert not any("failed" in reason for reason in reasons(answer).values())


def test_an_optimizer_that_goes_one_by_one_is_found_by_its_operators(traces: Path) -> None:
    found = {each.id: each for each in judged(traces / "optimizer.json").findings}
    assert "Adam.step" in found["optimizer-unfused"].evidence[0]
    assert "50 parameters" in found["optimizer-unfused"].evidence[0]
    assert "fused=True" in found["optimizer-unfused"].fix


def test_with_stacks_the_function_that_makes_the_batch_is_named(traces: Path) -> None:
    first = judged(traces / "input_stacks.json").findings[0]
    assert first.location is not None
    assert first.location.function == "__getitem__"
    assert first.location.file.endswith("cpu_traces.py")


def test_a_good_training_has_no_finding_and_the_answer_says_what_was_judged(traces: Path) -> None:
    answer = judged(traces / "healthy.json")
    assert answer.findings == []
    assert "only the CPU was judged" in answer.verdict


def test_what_cannot_be_judged_says_why(traces: Path) -> None:
    found = reasons(judged(traces / "input.json"))  # without shapes
    assert "record_shapes=True" in found["float64-compute"]
    assert "collectives" in found["exposed-communication"]
    assert "device" in found["sync-stall"]
    assert "operators only" in found["host-code"]
    assert "input-bound" not in found


def test_collectives_of_gloo_that_no_operator_hides(tmp_path: Path) -> None:
    made = Made().add("aten::mm", "cpu_op", 0, 5_000).add("c10d::allreduce_", "cpu_op", 5_000, 10)
    made.add("gloo:all_reduce", "user_annotation", 3_000, 6_000, tid=102)
    answer = made.findings(tmp_path)
    assert [each.id for each in answer.findings] == ["exposed-communication"]
    assert answer.findings[0].share == pytest.approx(0.4 * 5 / 6, abs=0.01)  # one of six sends none


def test_without_steps_only_what_needs_none_is_judged(tmp_path: Path) -> None:
    made = Made().add("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                      "user_annotation", 0, 4_000)  # fmt: skip
    answer = made.add("aten::mm", "cpu_op", 4_000, 6_000).findings(tmp_path, marked=False)
    assert [each.id for each in answer.findings] == ["input-bound"]
    assert answer.findings[0].share == pytest.approx(0.4, abs=0.02)
    assert "step()" in reasons(answer)["optimizer-unfused"]


@pytest.mark.nightly  # two processes that load torch
def test_two_ranks_on_gloo(tmp_path: Path) -> None:
    needs.require("torch")
    folder = made_by("torch/gloo_traces.py", tmp_path)
    answer = judged(folder / "rank-0.json")
    assert "exposed-communication" in [each.id for each in answer.findings]


@pytest.mark.nightly  # a process that loads TensorFlow
def test_keras_that_waits_for_a_generator(tmp_path: Path) -> None:
    needs.require("tensorflow")
    answer = judged(made_by("keras/cpu_trace.py", tmp_path / "trace"))
    assert answer.findings[0].id == "input-bound"
    assert "record_shapes" not in reasons(answer)["float64-compute"]
