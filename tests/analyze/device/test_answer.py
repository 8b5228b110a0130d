"""What `show device` answers, with the details of each device on its own row."""

import io
from pathlib import Path

from rich.console import Console

from device_traces import call, copy, kernel, launch, named_range, operator, written
from stepscope.analyze.device.answer import device
from stepscope.analyze.traces.foreign import run_of_trace
from stepscope.show.terminal.device import device as drawn


def text_of(path: Path) -> str:
    out = io.StringIO()
    Console(file=out, width=100, highlight=False).print(drawn(device(run_of_trace(path))))
    return out.getvalue()


def test_each_device_of_each_rank_has_its_own_details(tmp_path: Path) -> None:
    for rank, count in ((1, 2), (0, 3)):
        events = []
        for number in range(count):
            for each in range(number + 1):
                key = 10 * number + each + 1
                events += [launch(key, 1, key), kernel("k", 100 + key, 1, key, device=number)]
        written(tmp_path / f"{9 - rank}.json", *events, distributedInfo={"rank": rank})
    rows = device(run_of_trace(tmp_path)).ranks
    found = [
        (row.rank, row.device, row.details.launches.launches)
        for row in rows
        if row.details is not None and row.details.launches is not None
    ]
    assert found == [(0, 0, 1), (0, 1, 2), (0, 2, 3), (1, 0, 1), (1, 1, 2)]


def test_the_terminal_has_a_table_only_for_what_there_is(tmp_path: Path) -> None:
    bare = text_of(written(tmp_path / "bare.json", kernel("gemm", 0, 50, 1)))
    headings = ("Critical path", "Launches", "Synchronisations", "Copies", "Roofline",
                "Memory at the peak", "Named ranges")  # fmt: skip
    assert not [each for each in headings if each in bare]
    full = text_of(written(
        tmp_path / "full.json", operator("aten::mm", 0, 10), launch(2, 1, 1),
        kernel("gemm", 5, 50, 1), call("cudaStreamSynchronize", 12, 45),
        copy("Memcpy HtoD (Pageable -> Device)", 70, 5, 2, bytes=1000),
        named_range("forward", 0, 60),
    ))  # fmt: skip
    there = [each for each in headings if each in full]
    assert there == ["Critical path", "Launches", "Synchronisations", "Copies", "Named ranges"]
    assert "HtoD (Pageable -> Device)" in full
