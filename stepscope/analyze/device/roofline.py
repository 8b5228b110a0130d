"""How near the heavy operators come to what the device can do, and what share of its peak is used.

1. From the shapes: the operations of each call, and the bytes that it has to move at least.
2. The roof is the longer of two times: the operations at the peak rate of their precision, and the
   bytes at the memory's rate. What takes longer than that is lost.
3. MFU, model FLOPs utilisation, is the time that all counted operations take at the peak, as a
   share of the wall time. Element-wise operations and reductions do not count. It is not known
   where the trace lacks the shapes for more than a tenth of the time of matrix kernels.
"""

import collections
import dataclasses
import re
from typing import Final

import msgspec
import numpy as np

from stepscope.analyze.device.operations import operations
from stepscope.analyze.device.peaks import device_name, peaks_of
from stepscope.analyze.traces.devices import Work
from stepscope.analyze.traces.nesting import any_above, with_descendants
from stepscope.analyze.traces.operator_tree import op_tree
from stepscope.clock import Ints
from stepscope.importers.trace import Category
from stepscope.model.device import Bound, DevicePeaks, Roofline, RooflineRow

_LEAST_SHOWN: Final = 0.001
_LEAST_COUNTED: Final = 0.9  # of the matrix work, for a share of the peak that means something
_MATRIX: Final = re.compile(r"gemm|conv|Cijk_|matmul|wgrad|dgrad|xmma|cutlass|flash|fmha", re.I)
_TF32: Final = re.compile(r"tf32|s1688|s16816", re.I)
_MOST_ROWS: Final = 25
_Key = tuple[str, str, str]  # operator, shapes, precision


@dataclasses.dataclass
class _Row:
    calls: int = 0
    device_ns: int = 0
    flops: int = 0
    least_bytes: int = 0


def roofline(works: list[Work]) -> Roofline | None:
    """None: no operator whose operations can be counted ran on the device."""
    rows: dict[_Key, _Row] = collections.defaultdict(_Row)
    counted = np.sum([_add(rows, work) for work in works], axis=0)
    rows = {key: row for key, row in rows.items() if row.device_ns}
    if not rows:
        return None
    first = works[0]
    name, peaks = device_name(first.trace, first.number), peaks_of(first.trace, first.number)
    is_whole = counted[0] >= _LEAST_COUNTED * counted[1]
    ideal_ns = _ideal_ns(rows, peaks) if is_whole else None
    wall_ns = sum(work.last_ns - work.first_ns for work in works)
    busy_ns = sum(int((work.busy[1] - work.busy[0]).sum()) for work in works)
    answers = [_answer(key, row, peaks) for key, row in rows.items()]
    answers.sort(key=lambda row: (-row.device_ns, row.operator))
    return Roofline(
        device=name, peaks=peaks, flops=sum(row.flops for row in rows.values()),
        device_ns=sum(row.device_ns for row in rows.values()), rows=answers[:_MOST_ROWS],
        mfu=None if ideal_ns is None else ideal_ns / max(1, wall_ns),
        of_busy=None if ideal_ns is None else ideal_ns / max(1, busy_ns),
        note=_note(name, peaks, counted[0] / max(1, counted[1])),
    )  # fmt: skip


def _note(name: str | None, peaks: DevicePeaks | None, counted: float) -> str | None:
    if name is None:
        return "The trace does not name the device, so its peak is not known."
    if peaks is None:
        return (
            f"The published peaks of '{name}' are not in the table: shares of them are not known."
        )
    if counted < _LEAST_COUNTED:
        part = _part_words(counted)
        return (
            f"The trace has the shapes for {part} the time of matrix kernels, so the share of the "
            "peak is not known."
        )
    return None


def _part_words(share: float) -> str:
    if not share:
        return "nothing of"
    return f"{100 * share:.1f} % of" if share >= _LEAST_SHOWN else "less than 0.1 % of"


def _add(rows: dict[_Key, _Row], work: Work) -> tuple[int, int]:
    """An operator's kernels are those that it and the operators inside it launched. Returns the
    time of matrix kernels in operators that were counted, and of all."""
    tree, trace = op_tree(work.trace), work.trace
    launched = _on_this_device(work)
    is_counted = np.zeros(len(tree), np.bool_)
    chosen = np.flatnonzero((tree.events["category"] == Category.OP) & (launched.device_ns > 0))
    columns = (tree.events[name][chosen].tolist() for name in ("name", "shapes"))
    for index, name, shape in zip(chosen.tolist(), *columns, strict=True):
        found = operations(trace.names[name], trace.shapes[shape]) if shape >= 0 else None
        if found is None:
            continue
        is_counted[index] = True
        is_tf32 = found.precision == "fp32" and launched.in_tf32[index] > 0
        precision = "tf32" if is_tf32 else found.precision
        row = rows[trace.names[name], trace.shapes[shape].dims, precision]
        row.calls += 1
        row.device_ns += int(launched.device_ns[index])
        row.flops += found.flops
        row.least_bytes += found.least_bytes
    inside = is_counted | any_above(tree.parent, is_counted)
    return int(launched.matrix_ns[inside].sum()), launched.all_matrix_ns


@dataclasses.dataclass(frozen=True, eq=False)
class _Launched:
    """By entry of the tree."""

    device_ns: Ints  # with what is inside it
    in_tf32: Ints  # kernels, with what is inside it
    matrix_ns: Ints  # in kernels that it launched itself
    all_matrix_ns: int  # also of those whose operator is not known


def _on_this_device(work: Work) -> _Launched:
    tree, names = op_tree(work.trace), work.trace.names
    events, operator = tree.device, tree.launcher
    here = events["device"] == work.number
    events, operator = events[here], operator[here]
    is_tf32, is_matrix = (
        np.array([pattern.search(name) is not None for name in names] or [False])[events["name"]]
        for pattern in (_TF32, _MATRIX)
    )
    is_matrix &= events["category"] == Category.KERNEL
    device_ns, in_tf32, matrix_ns = (np.zeros(len(tree), np.int64) for _ in range(3))
    known = operator >= 0
    np.add.at(device_ns, operator[known], events["duration_ns"][known])
    np.add.at(in_tf32, operator[known], is_tf32[known].astype(np.int64))
    np.add.at(matrix_ns, operator[known & is_matrix], events["duration_ns"][known & is_matrix])
    return _Launched(
        with_descendants(tree.parent, device_ns), with_descendants(tree.parent, in_tf32), matrix_ns,
        int(events["duration_ns"][is_matrix].sum()),
    )  # fmt: skip


def _ideal_ns(rows: dict[_Key, _Row], peaks: DevicePeaks | None) -> float | None:
    if peaks is None or any(key[2] not in peaks.flops_per_s for key in rows):
        return None
    return sum(row.flops / peaks.flops_per_s[key[2]] * 1e9 for key, row in rows.items())


def _answer(key: _Key, row: _Row, peaks: DevicePeaks | None) -> RooflineRow:
    operator, shapes, precision = key
    seconds = row.device_ns / 1e9
    bound: Bound | None = None
    share = None
    if peaks is not None and precision in peaks.flops_per_s:
        computing = row.flops / peaks.flops_per_s[precision]
        moving = row.least_bytes / peaks.bytes_per_s
        bound = "compute" if computing >= moving else "memory"
        share = max(computing, moving) / seconds
    return RooflineRow(
        operator=operator, input_shapes=_on_one_line(shapes), precision=precision, calls=row.calls,
        device_ns=row.device_ns, flops=row.flops, least_bytes=row.least_bytes,
        flops_per_s=row.flops / seconds, bytes_per_s=row.least_bytes / seconds, bound=bound,
        share_of_roof=share,
    )  # fmt: skip


def _on_one_line(shapes: str) -> str:
    return msgspec.json.format(shapes, indent=-1)
