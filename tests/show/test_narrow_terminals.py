"""On a narrow terminal nothing is cut without a sign, and a command stays one that can be typed."""

import io
import shlex

import msgspec
import pytest
from rich.console import Group, RenderableType

from stepscope.model import FunctionLines, LineRow, LinesAnswer, Process
from stepscope.model.device import CriticalPath, DeviceDetails, PathRow
from stepscope.model.ops import KernelRow, KernelsAnswer
from stepscope.show.terminal.device_details import details
from stepscope.show.terminal.drawing.cells import middled
from stepscope.show.terminal.drawing.command import Command
from stepscope.show.terminal.drawing.page import Terminal
from stepscope.show.terminal.drawing.wide import Column, WideTable
from stepscope.show.terminal.kernels import kernels
from stepscope.show.terminal.lines import NO_ROOM_LEGEND, OPERATORS_LEGEND, lines

LONG = "stepscope try '/home/ada/my project/experiments/train.py' --fixes num-workers --epochs 3"


def drawn(view: RenderableType, width: int, *, is_terminal: bool = True) -> str:
    out = io.StringIO()
    console = Terminal(file=out, width=width, force_terminal=is_terminal, color_system=None)
    console.print(view, crop=is_terminal)
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 90])
def test_a_command_that_does_not_fit_is_continued_as_a_shell_reads_it(width: int) -> None:
    text = drawn(Command(LONG, "  try it   "), width)
    shown = text.removeprefix("  try it   ").splitlines()
    assert all(line.endswith(" \\") for line in shown[:-1])
    assert len(shown) > 1
    typed = " ".join(line.removesuffix("\\") for line in shown)
    assert shlex.split(typed) == shlex.split(LONG)


@pytest.mark.parametrize(("width", "is_terminal"), [(120, True), (40, False)])
def test_a_command_is_one_line_where_it_fits_and_in_a_file(width: int, is_terminal: bool) -> None:
    assert drawn(Command(LONG), width, is_terminal=is_terminal) == f"  {LONG}\n"


def test_columns_without_room_are_named() -> None:
    table = WideTable([Column(title * 10, ["1"], weight) for weight, title in enumerate("abc")])
    assert "no room for aaaaaaaaaa" in drawn(table, 30)
    assert "no room" not in drawn(table, 80)
    assert "no room" not in drawn(table, 30, is_terminal=False)


def test_the_source_of_a_line_keeps_its_room_beside_the_times_of_operators() -> None:
    row = LineRow(
        line=1, hits=1, ns=5, ops_ns=3, device_ns=None, alloc_bytes=7, estimated=False,
        source="loss = model(images)",
    )  # fmt: skip
    function = FunctionLines(
        file="train.py", function="train", first_line=1, total_ns=5,
        process=Process(role="main", rank=None, pid=1), calls=1, lines=[row],
        source=["loss = model(images)"],
    )  # fmt: skip
    answer = LinesAnswer(functions=[function])
    narrow, wide = drawn(lines(answer), 80), drawn(lines(answer), 120)
    assert "loss = model(images)" in narrow
    assert NO_ROOM_LEGEND in narrow
    assert "Alloc" not in narrow.replace(NO_ROOM_LEGEND, "")
    assert OPERATORS_LEGEND in wide
    assert "Alloc" in wide.splitlines()[1]


KERNEL = (
    "void at::native::elementwise_kernel<4, at::native::{}<float> >(int, at::native::{}<float>)"
)


def test_kernels_that_begin_alike_are_told_apart() -> None:
    rows = [
        KernelRow(
            name=KERNEL.format(name, name), kind="kernel", device=0, calls=1, total_ns=9,
            mean_ns=9, share=0.5, operator=None, location=None,
        )
        for name in ("AddFunctor", "MulFunctor")
    ]  # fmt: skip
    answer = KernelsAnswer(kernels=rows, windows=[])
    on_terminal = drawn(kernels(answer), 80)
    assert "elementwise_kernel<4, AddFunctor<float>>" in on_terminal
    assert "elementwise_kernel<4, MulFunctor<float>>" in on_terminal
    assert rows[0].name in drawn(kernels(answer), 80, is_terminal=False)


def test_on_the_critical_path_only_kernels_lose_their_namespace() -> None:
    operator = PathRow(
        kind="operator", name="aten::empty", times=1, path_ns=9, share=0.5, gain_ns=9
    )
    kernel = msgspec.structs.replace(operator, kind="kernel", name="void cudnn::add<float>(int)")
    rows = [operator, kernel]
    path = CriticalPath(step=None, step_ns=18, kinds=[], rows=rows, others=0)
    shown = drawn(Group(*details(DeviceDetails(critical_path=path), 18)), 80)
    assert "aten::empty" in shown
    assert " add<float>" in shown


def test_a_name_is_cut_in_the_middle() -> None:
    name = "autograd::engine::evaluate_function: ReluBackward0"
    assert middled(name, 24) == "autograd::engi…Backward0"
    assert middled("aten::mm", 8) == "aten::mm"
