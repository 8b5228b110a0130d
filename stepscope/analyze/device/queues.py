"""What has been launched on each stream and has not begun to run: the queue, over time.

As HolisticTraceAnalysis defines it: a launch adds one when the call begins, and what it launched
takes one away when it begins to run.
"""

import dataclasses
from typing import Final

import numpy as np

from stepscope.analyze.traces.devices import Table, Work, parts_of_time
from stepscope.clock import Ints
from stepscope.model.device import QueueRow

_FULL: Final = 1024  # launches that CUDA queues before a call blocks


@dataclasses.dataclass(frozen=True, eq=False)
class Queue:
    """The length from each moment to the next."""

    at_ns: Ints
    length: Ints

    def total(self, until_ns: Table) -> Table:
        """Length times ns, from the first moment to these; it stays as it is after the last."""
        lasted = np.diff(self.at_ns)
        so_far = np.concatenate([[0.0], np.cumsum(lasted * self.length[:-1].astype(np.float64))])
        at = np.maximum(np.searchsorted(self.at_ns, until_ns, side="right") - 1, 0)
        return so_far[at] + np.maximum(until_ns - self.at_ns[at], 0) * self.length[at]


def queues(works: list[Work]) -> list[QueueRow]:
    """The busiest stream first. Over time: of the first window."""
    streams = sorted({int(each) for work in works for each in np.unique(_launched(work))})
    rows = [_row(works, stream) for stream in streams]
    return sorted(rows, key=lambda row: (-row.launches, row.stream))


def queue_of(work: Work, stream: int) -> Queue:
    """Launches come before what begins at the same moment."""
    here = (work.call >= 0) & (work.events["stream"] == stream)
    begins, launched = work.start_ns[here], work.calls["start_ns"][work.call[here]]
    at_ns = np.concatenate([launched, begins])
    change = np.concatenate([np.ones(len(launched), np.int64), np.full(len(begins), -1, np.int64)])
    order = np.argsort(at_ns, kind="stable")
    return Queue(at_ns[order], np.cumsum(change[order]))


def _launched(work: Work) -> Ints:
    streams: Ints = work.events["stream"][work.call >= 0]
    return streams


def _row(works: list[Work], stream: int) -> QueueRow:
    whole = lasted = 0.0
    count = longest = full_ns = blocked_ns = 0
    for work in works:
        queue = queue_of(work, stream)
        if len(queue.at_ns):
            count += len(queue.at_ns) // 2
            longest = max(longest, int(queue.length.max()))
            whole += float(queue.total(queue.at_ns[-1:])[0])
            lasted += float(queue.at_ns[-1] - queue.at_ns[0])
            full_ns += _full_ns(queue)
            blocked_ns += _blocked_ns(work, stream, queue)
    return QueueRow(
        stream=stream, launches=count, mean_length=whole / max(1.0, lasted), max_length=longest,
        full_ns=full_ns, blocked_ns=blocked_ns, over_time=_over_time(works, stream),
    )  # fmt: skip


def _full_ns(queue: Queue) -> int:
    return int(np.diff(queue.at_ns)[queue.length[:-1] >= _FULL].sum())


def _blocked_ns(work: Work, stream: int, queue: Queue) -> int:
    """The calls that found the queue full. The call itself is in the queue."""
    call = np.unique(work.call[(work.call >= 0) & (work.events["stream"] == stream)])
    at = np.searchsorted(queue.at_ns, work.calls["start_ns"][call], side="left")
    before = np.where(at > 0, queue.length[np.maximum(at - 1, 0)], 0)
    return int(work.calls["duration_ns"][call][before >= _FULL].sum())


def _over_time(works: list[Work], stream: int) -> list[float]:
    queue = queue_of(works[0], stream)
    if not len(queue.at_ns):
        return []
    bounds = parts_of_time(works)
    means = np.diff(queue.total(bounds)) / np.maximum(np.diff(bounds), 1.0)
    return [round(each, 3) for each in means.tolist()]
