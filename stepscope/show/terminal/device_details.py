"""The device view, below a device's time: one short table per question that its trace answers."""

import functools
from collections.abc import Callable
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from stepscope.model.device import (
    CriticalPath,
    DeviceDetails,
    DeviceMemory,
    LaunchStats,
    Roofline,
)
from stepscope.show.terminal.drawing.bars import Bar
from stepscope.show.terminal.drawing.cells import KeepsEnds, duration_cell
from stepscope.show.terminal.drawing.kernels import kernel_name
from stepscope.show.terminal.drawing.numbers import (
    NOTHING,
    count,
    counted,
    digits,
    duration,
    percent,
    size,
)
from stepscope.show.terminal.drawing.page import columns, heading, indented, name

_MOST_ROWS: Final = 5  # of each table
_LEAST_SHARE: Final = 0.01  # of the path, or of the wall time: less is not worth a row


def details(each: DeviceDetails, wall_ns: int, top: int | None = None) -> list[RenderableType]:
    """Only what there is something to say about; `--top` has more rows of each."""
    most = _MOST_ROWS if top is None else top or 10**9
    drawings: list[Callable[[], list[RenderableType]]] = [
        lambda: _path(each.critical_path, most),
        lambda: _launches(each, wall_ns),
        lambda: _syncs(each, wall_ns, most),
        lambda: _copies(each, most),
        lambda: _roofline(each.roofline, most),
        lambda: _sequences(each, most),
        lambda: _memory(each.memory, most),
        lambda: _annotations(each, most),
    ]
    return [part for draw in drawings for part in draw()]


def _titled(title: str, aside: str, *drawn: RenderableType) -> list[RenderableType]:
    return [Text(""), heading(title, aside), *(indented(each) for each in drawn)]


def _path(path: CriticalPath | None, most: int) -> list[RenderableType]:
    if path is None:
        return []
    table = columns(
        ("on the path", "label"), ("", "fill"), ("time", "right"), ("share", "right"),
        ("without it", "right"),
    )  # fmt: skip
    shown = [kind for kind in path.kinds if kind.share >= _LEAST_SHARE]
    for kind in shown:
        table.add_row(kind.kind, Bar(kind.share, "blue"), duration_cell(kind.path_ns),
                      percent(kind.share), _gain(kind.gain_ns))  # fmt: skip
    rows = columns(("time", "right"), ("without it", "right"), ("what", "fill"))
    for row in path.rows[:most]:
        what = KeepsEnds(kernel_name(row.name) if row.kind == "kernel" else row.name)
        rows.add_row(duration_cell(row.path_ns), _gain(row.gain_ns), what)
    whole = path.step or "the whole trace"
    return _titled("Critical path", f"{whole}: {duration(path.step_ns)}", table, rows)


def _gain(ns: int) -> Text | str:
    return Text(duration(-ns)) if ns > 0 else NOTHING


def _launches(each: DeviceDetails, wall_ns: int) -> list[RenderableType]:
    stats = each.launches
    if stats is None:
        return []
    table = columns(
        ("stream", "right"), ("launches", "right"), ("queued", "right"), ("at most", "right"),
        ("full", "right"), ("blocked", "right"),
    )  # fmt: skip
    for row in each.queues[:_MOST_ROWS]:
        table.add_row(
            str(row.stream), count(row.launches), digits(row.mean_length), count(row.max_length),
            duration(row.full_ns) if row.full_ns else NOTHING,
            duration(row.blocked_ns) if row.blocked_ns else NOTHING,
        )  # fmt: skip
    return _titled("Launches", _launch_words(stats), table, Text(_short_words(stats)))


def _launch_words(stats: LaunchStats) -> str:
    return (
        f"{counted(stats.launches, 'launch', 'launches')}, {duration(stats.median_call_ns)} each, "
        f"{duration(stats.median_delay_ns)} until the start (medians)"
    )


def _short_words(stats: LaunchStats) -> str:
    share = percent(stats.short_kernels / max(1, stats.launches))
    return (
        f"{share} ran for less time than their launch took: {duration(stats.short_kernel_ns)} on "
        f"the device, {duration(stats.short_call_ns)} in their calls."
    )


def _syncs(each: DeviceDetails, wall_ns: int, most: int) -> list[RenderableType]:
    worth = [
        row for row in each.synchronisations
        if row.total_ns + row.idle_after_ns >= _LEAST_SHARE * wall_ns
    ]  # fmt: skip
    if not worth:
        return []
    table = columns(("waits", "right"), ("then idle", "right"), ("calls", "right"),
                    ("call", "name"), ("in", "fill"))  # fmt: skip
    for row in worth[:most]:
        table.add_row(duration_cell(row.total_ns), duration_cell(row.idle_after_ns),
                      count(row.calls), name(row.name), name(row.operator or NOTHING))  # fmt: skip
    aside = "the host waits for the device, then the device for the host"
    return _titled("Synchronisations", aside, table)


def _copies(each: DeviceDetails, most: int) -> list[RenderableType]:
    if not each.copies:
        return []
    table = columns(("time", "right"), ("calls", "right"), ("bytes", "right"),
                    ("per second", "right"), ("copies", "fill"))  # fmt: skip
    for row in each.copies[:most]:
        rate = NOTHING if row.bytes_per_s is None else size(row.bytes_per_s)
        table.add_row(duration_cell(row.total_ns), count(row.calls), size(row.size_bytes), rate,
                      name(row.kind))  # fmt: skip
    return _titled("Copies", "", table)


def _roofline(roofline: Roofline | None, most: int) -> list[RenderableType]:
    if roofline is None:
        return []
    table = columns(("time", "right"), ("calls", "right"), ("TFLOP/s", "right"),
                    ("of the roof", "right"), ("limit", "left"), ("operator", "fill"))  # fmt: skip
    for row in roofline.rows[:most]:
        table.add_row(
            duration_cell(row.device_ns), count(row.calls), digits(row.flops_per_s / 1e12),
            percent(row.share_of_roof) if row.share_of_roof is not None else NOTHING,
            row.bound or NOTHING, name(f"{row.operator} {row.precision} {row.input_shapes}"),
        )  # fmt: skip
    notes = [Text(roofline.note)] if roofline.note else []
    return _titled("Roofline", _peak_words(roofline), table, *notes)


def _peak_words(roofline: Roofline) -> str:
    words = [] if roofline.peaks is None else [f"peaks of {roofline.peaks.name}"]
    if roofline.mfu is not None and roofline.of_busy is not None:
        words.append(f"MFU {percent(roofline.mfu)}, {percent(roofline.of_busy)} while it works")
    return " · ".join(words)


def _sequences(each: DeviceDetails, most: int) -> list[RenderableType]:
    if not each.sequences:
        return []
    table = columns(("times", "right"), ("saves", "right"), ("gaps", "right"), ("kernels", "fill"))
    for row in each.sequences[:most]:
        kernels = " → ".join(map(_short, row.kernels))
        table.add_row(count(row.times), counted(row.launches_saved, "launch", "launches"),
                      duration_cell(row.gap_ns), name(kernels))  # fmt: skip
    return _titled("Sequences that one kernel could replace", "", table)


@functools.cache
def _short(kernel: str) -> str:
    """`vectorized_elementwise_kernel` of its full name with namespaces and arguments."""
    plain = kernel.replace("(anonymous namespace)::", "").removeprefix("void ")
    return plain.partition("<")[0].partition("(")[0].rpartition("::")[2] or kernel


def _memory(memory: DeviceMemory | None, most: int) -> list[RenderableType]:
    if memory is None or not memory.alive:
        return []
    table = columns(("bytes", "right"), ("share", "right"), ("allocations", "right"),
                    ("allocated by", "fill"))  # fmt: skip
    for row in memory.alive[:most]:
        who = "before the trace began" if row.is_earlier else row.operator or "outside operators"
        table.add_row(size(row.size_bytes), percent(row.size_bytes / max(1, memory.peak_bytes)),
                      count(row.allocations), name(who))  # fmt: skip
    when = f"{size(memory.peak_bytes)} at {duration(memory.peak_at_ns)}"
    return _titled("Memory at the peak", when, table)


def _annotations(each: DeviceDetails, most: int) -> list[RenderableType]:
    if not each.annotations:
        return []
    table = columns(("host", "right"), ("device", "right"), ("kernels", "right"),
                    ("their time", "right"), ("calls", "right"), ("range", "fill"))  # fmt: skip
    for row in each.annotations[:most]:
        table.add_row(duration_cell(row.host_ns), duration_cell(row.device_ns), count(row.kernels),
                      duration_cell(row.kernel_ns), count(row.calls), name(row.name))  # fmt: skip
    return _titled("Named ranges", "", table)
