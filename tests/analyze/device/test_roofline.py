"""Operations and bytes from shapes, peaks by the device's name, and shares of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from device_traces import Event, kernel, launch, operator, work
from stepscope.analyze.device.operations import operations
from stepscope.analyze.device.peaks import peaks_of
from stepscope.analyze.device.roofline import roofline
from stepscope.importers.trace import Shapes

FLOAT, BFLOAT = "float", "c10::BFloat16"


def shapes(dims: list[Any], kind: str, concrete: list[str] | None = None) -> Shapes:
    types = [kind if each else "" for each in dims]
    return Shapes(json.dumps(dims), json.dumps(types), json.dumps(concrete or []))


@pytest.mark.parametrize(
    ("name", "given", "flops", "elements"),
    [
        ("aten::mm", shapes([[2, 3], [3, 5]], FLOAT), 2 * 30, 6 + 15 + 10),
        ("aten::addmm", shapes([[5], [2, 3], [3, 5]], FLOAT), 2 * 30, 5 + 6 + 15 + 10),
        ("aten::bmm", shapes([[4, 2, 3], [4, 3, 5]], FLOAT), 2 * 120, 24 + 60 + 40),
        ("aten::_scaled_dot_product_flash_attention",
         shapes([[1, 2, 4, 8], [1, 2, 6, 8], [1, 2, 6, 8]], FLOAT), 2 * 2 * 2 * 4 * 6 * 8,
         64 + 96 + 96 + 64),
        ("aten::convolution_backward",
         shapes([[1, 3, 4, 4], [1, 2, 4, 4], [3, 2, 3, 3]], FLOAT, ["", "[True, False, True]"]),
         2 * 48 * 18, 48 + 32 + 54 + 32 + 54),
    ],
)  # fmt: skip
def test_operations_and_least_bytes_are_counted_from_the_shapes(
    name: str, given: Shapes, flops: int, elements: int
) -> None:
    found = operations(name, given)
    assert found is not None
    assert (found.flops, found.least_bytes, found.precision) == (flops, 4 * elements, "fp32")


def test_what_cannot_be_counted_is_not_guessed() -> None:
    assert operations("aten::relu", shapes([[2, 3]], FLOAT)) is None
    assert operations("aten::mm", Shapes()) is None
    assert operations("aten::mm", shapes([[2, 3], [3, 5]], "long int")) is None


def mm(rows: int, lasted: float, kind: str = BFLOAT, name: str = "gemm") -> list[Event]:
    """A square product that takes so many µs."""
    args = {"External id": 1, "Input Dims": [[rows, rows], [rows, rows]], "Input type": [kind] * 2}
    return [operator("aten::mm", 0, 10, **args), launch(5, 1, 1),
            kernel(name, 20, lasted, 1, **{"External id": 1})]  # fmt: skip


def test_a_product_at_half_the_peak_is_at_half_the_roof(tmp_path: Path) -> None:
    rows = 4096
    ideal_us = 2 * rows**3 / 312e12 * 1e6
    found = roofline(work(tmp_path, *mm(rows, 2 * ideal_us)))
    assert found is not None
    assert found.peaks is not None
    assert (found.peaks.name, found.note) == ("A100 40 GB", None)
    (row,) = found.rows
    assert (row.bound, row.precision, row.calls) == ("compute", "bf16", 1)
    assert row.share_of_roof == pytest.approx(0.5, rel=1e-4)
    assert row.input_shapes == "[[4096,4096],[4096,4096]]"
    assert found.mfu == pytest.approx(0.5, rel=1e-4)


def test_a_small_product_is_bound_by_memory(tmp_path: Path) -> None:
    found = roofline(work(tmp_path, *mm(64, 1)))
    assert found is not None
    assert found.rows[0].bound == "memory"
    assert found.rows[0].share_of_roof == pytest.approx(3 * 64 * 64 * 2 / 1555e9 / 1e-6)


def test_kernels_that_compute_in_tf32_are_measured_by_its_peak(tmp_path: Path) -> None:
    found = roofline(work(tmp_path, *mm(4096, 2000, FLOAT, "cutlass_80_tensorop_s1688gemm")))
    assert found is not None
    assert found.rows[0].precision == "tf32"
    assert found.rows[0].share_of_roof == pytest.approx(2 * 4096**3 / 156e12 / 2e-3)


def test_an_unknown_device_has_rates_but_no_shares(tmp_path: Path) -> None:
    found = roofline(work(tmp_path, *mm(64, 1), deviceProperties=[{"id": 0, "name": "Abacus 3"}]))
    assert found is not None
    assert (found.device, found.peaks, found.mfu) == ("Abacus 3", None, None)
    assert found.rows[0].flops_per_s == pytest.approx(2 * 64**3 / 1e-6)
    assert found.rows[0].share_of_roof is None
    assert found.note is not None
    assert "Abacus 3" in found.note


@pytest.mark.parametrize(("other_us", "part"), [(9, "10.0 % of"), (9999, "less than 0.1 % of")])
def test_there_is_no_mfu_where_much_of_the_matrix_work_has_no_shapes(
    other_us: float, part: str, tmp_path: Path
) -> None:
    found = roofline(work(tmp_path, *mm(64, 1), kernel("other_gemm", 40, other_us, 2)))
    assert found is not None
    assert found.mfu is None
    assert found.note is not None
    assert part in found.note


@pytest.mark.parametrize(
    ("name", "memory", "known"),
    [
        ("NVIDIA A100-PG509-200", 42_297_524_224, "A100 40 GB"),
        ("NVIDIA A100-SXM4-80GB", 85_000_000_000, "A100 SXM 80 GB"),
        ("NVIDIA A100 80GB PCIe", 85_000_000_000, "A100 PCIe 80 GB"),
        ("NVIDIA H100 80GB HBM3", 85_000_000_000, "H100 SXM"),
        ("NVIDIA H100 PCIe", 85_000_000_000, "H100 PCIe"),
        ("Tesla V100-DGXS-32GB", 34_000_000_000, "V100"),
        ("NVIDIA A10G", 24_000_000_000, None),  # another chip than the A10
        ("NVIDIA L40S", 48_000_000_000, "L40S"),
        ("AMD Instinct MI300X", 206_000_000_000, "MI300X"),
        ("AMD Radeon Graphics", 68_000_000_000, None),
    ],
)
def test_devices_are_known_by_their_names(
    tmp_path: Path, name: str, memory: int, known: str | None
) -> None:
    head = {"deviceProperties": [{"id": 0, "name": name, "totalGlobalMem": memory}]}
    (only,) = work(tmp_path, kernel("a", 0, 1, 1), **head)
    found = peaks_of(only.trace, only.number)
    assert (found.name if found else None) == known
