"""Kernels are counted in every range around the call that launched them, however many there are."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.made_traces import make
from small_traces import event, write_json
from stepscope.analyze.device.answer import device
from stepscope.analyze.traces.foreign import load_any
from stepscope.importers.columns import Columns


def launch(at_us: float, number: int, **more: int) -> dict[str, object]:
    args = {"correlation": number}
    return event("cudaLaunchKernel", at_us, 1, "cuda_runtime", args=args, **more)


def kernel(at_us: float, lasts_us: float, number: int) -> dict[str, object]:
    args = {"correlation": number, "device": 0, "stream": 7}
    return event("gemm", at_us, lasts_us, "kernel", pid=0, tid=7, args=args)


def test_a_kernel_is_in_every_range_around_its_launch_on_that_thread(tmp_path: Path) -> None:
    path = write_json(
        tmp_path / "t.json",
        [
            event("outer", 0, 100, "user_annotation"),
            event("inner", 10, 20, "user_annotation"),
            launch(15, 1), launch(50, 2), launch(150, 3), launch(15, 4, tid=8),
            kernel(200, 5, 1), kernel(210, 7, 2), kernel(220, 9, 3), kernel(230, 11, 4),
        ],
    )  # fmt: skip
    (row,) = device(load_any(path)).ranks
    assert row.details is not None
    found = {each.name: (each.kernels, each.kernel_ns) for each in row.details.annotations}
    assert found == {"outer": (2, 12_000), "inner": (1, 5_000)}


def test_more_kernels_are_no_more_questions_to_the_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column of some rows is gathered each time that it is asked for: by kernel, that is
    quadratic."""
    asked = []
    narrow = Columns.narrow

    def counted(self: Columns, name: str) -> Any:
        asked.append(name)
        return narrow(self, name)

    monkeypatch.setattr(Columns, "narrow", counted)

    def questions(events: int) -> int:
        run = load_any(make(tmp_path / f"{events}.json", events))
        asked.clear()
        device(run)
        return len(asked)

    questions(1_000)
    assert questions(4_000) < questions(1_000) + 200
