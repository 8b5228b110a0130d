"""The operators and kernels views: torch's columns, complete in a pipe, fitting on a terminal."""

import io

import pytest
from rich.console import Console, RenderableType

from stepscope.errors import InputError
from stepscope.model import Location
from stepscope.model.ops import KernelRow, KernelsAnswer, OpPlace, OpRow, OpsAnswer, OpsWindow
from stepscope.show.selection import select
from stepscope.show.terminal.kernels import kernels
from stepscope.show.terminal.ops import ops
from stepscope.views.ops import OPS

US = 1000


def row(name: str, calls: int, self_us: int, **fields: object) -> OpRow:
    given: dict[str, object] = {
        "name": name, "input_shapes": None, "calls": calls, "self_cpu_ns": self_us * US,
        "total_cpu_ns": 2 * self_us * US, "self_device_ns": None, "total_device_ns": None,
        "self_cpu_bytes": None, "self_device_bytes": None, "location": None, "locations": [],
    }  # fmt: skip
    return OpRow(**(given | fields))  # type: ignore[arg-type]  # of many types


WINDOW = OpsWindow(
    file="ops-1.json",
    start_ns=0,
    duration_ns=9,
    steps=3,
    operators=2,
    of_script=False,
    slowdown=1.25,
)
PLACES = [OpPlace(file="/a/train.py", line=12, calls=2, self_cpu_ns=70 * US),
          OpPlace(file="/a/train.py", line=9, calls=1, self_cpu_ns=5 * US)]  # fmt: skip
ANSWER = OpsAnswer(
    ops=[
        row("aten::mm", 3, 75, location=Location(file="/a/train.py", line=12, function="f"),
            locations=PLACES, self_cpu_bytes=4096, total_cpu_bytes=4096, flops=3_000_000),
        row("aten::add", 100, 25),
    ],
    windows=[WINDOW],
    self_cpu_ns=100 * US,
)  # fmt: skip


def drawn(view: RenderableType, *, width: int = 80, terminal: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None,
                      highlight=False)  # fmt: skip
    console.print(view, crop=terminal)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]  # a StringIO


def test_into_a_pipe_all_of_torchs_columns_are_there() -> None:
    text = drawn(ops(ANSWER))
    head = next(line for line in text.split("\n") if "Name" in line)
    titles = ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "CPU Mem",
              "Self CPU Mem", "# of Calls", "FLOPs", "where")  # fmt: skip
    assert all(title in head for title in titles)
    assert "device" not in head
    first = next(line for line in text.split("\n") if "aten::mm" in line)
    assert first.split() == [
        "aten::mm", "75.00%", "75.0", "µs", "150.00%", "150", "µs", "50.0", "µs", "4.00", "KiB",
        "4.00", "KiB", "3", "3.00", "M", "train.py:12", "+1",
    ]  # fmt: skip
    assert "Self CPU time total: 100 µs" in text
    assert "3 steps in 1 window · steps there take 1.25× as long" in " ".join(text.split())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_on_a_terminal_it_fits(width: int) -> None:
    text = drawn(ops(ANSWER), width=width, terminal=True)
    assert max(map(len, text.split("\n"))) <= width
    assert "aten::mm" in text
    assert "75.0 µs" in text


def test_rows_left_out_are_counted() -> None:
    text = drawn(ops(ANSWER, top=1))
    assert "aten::add" not in text
    assert "1 more operator" in text


def test_torchs_words_sort_them() -> None:
    by_count = select(OPS, ANSWER, {"sort": "count"})
    assert [each.name for each in by_count.ops] == ["aten::add", "aten::mm"]
    for word in ("self_cpu_time_total", "cpu_time_total", "cpu_time", "self_cuda_time_total",
                 "cuda_time", "cpu_memory_usage", "self_cpu_memory_usage"):  # fmt: skip
        assert len(select(OPS, ANSWER, {"sort": word}).ops) == 2
    with pytest.raises(InputError, match="self_cpu_time_total"):
        select(OPS, ANSWER, {"sort": "speed"})


def test_kernels_name_what_launched_them() -> None:
    kernel = KernelRow(
        name="void gemm<float>", kind="kernel", device=0, calls=4, total_ns=80 * US,
        mean_ns=20 * US, share=1.0, operator="aten::mm",
        location=Location(file="train.py", line=3, function=None),
    )  # fmt: skip
    text = drawn(kernels(KernelsAnswer(kernels=[kernel])))
    assert all(word in text for word in ("void gemm<float>", "aten::mm", "train.py:3", "100.0 %"))
    assert "Nothing." in drawn(kernels(KernelsAnswer(kernels=[], notes=["No device."])))
