"""The figures of a device are those of HolisticTraceAnalysis, which is asked here and now."""

import subprocess
from pathlib import Path

import pytest

import needs
from benchmarks.same_as_hta import differences, figures_of_hta, figures_of_ours, python_of


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return python_of(tmp_path_factory.mktemp("hta"))
    except subprocess.CalledProcessError:
        pytest.skip("HolisticTraceAnalysis cannot be installed here")


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    [
        "ddp128_sampled/rank-0.json.gz",
        "ddp128_sampled/rank-1.json.gz",
        "torch_a100_ddp2_nccl_rank0.json.gz",
        "torch_h100_timesformer_stacks_mem.json.gz",
    ],
)
def test_device_figures_equal_htas(name: str, python: Path) -> None:
    trace = needs.trace(name)
    assert differences(figures_of_hta(python, trace), figures_of_ours(trace)) == {}


def test_a_figure_that_differs_is_found() -> None:
    ours = {"idle": 3.0, "compute": 5.0, "overlap_percent": float("nan"), "stream 7 other": 0.0}
    theirs = {"idle": 3.1, "compute": 7.0, "overlap_percent": float("nan")}
    assert differences(theirs, ours) == {"compute": (7.0, 5.0)}
