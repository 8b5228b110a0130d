"""How many threads want a core at once: those that compute, and those that wait for their turn.

Most threads of a library's pool sleep. What counts is time: a second in which two threads computed
and two others were ready is a second with four. The supervisor counts how long all threads of a
process were ready, every second or more often; what they computed, the process counts itself.
"""

import dataclasses
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from stepscope.analyze.counters import grown
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData, Run

Pairs = tuple[Ints, Ints]
_MOST: Final = 0.5  # of the window: of the rest it is not known


@dataclasses.dataclass(frozen=True)
class SideBySide:
    """Threads, on average."""

    run: float
    ready: float  # but without a core

    @property
    def at_once(self) -> float:
        return self.run + self.ready


def threads_side_by_side(
    run: Run, processes: Iterable[ProcessData], window: Pairs
) -> SideBySide | None:
    """Of these processes together, the first of which has the window. None: not counted there.
    Between two looks they are as many all the time; a process that has ended is not counted."""
    them = list(processes)
    rows = [row for row in run.system if str(them[0].info.pid) in row.get("waited_ns", ())]
    at_ns = np.array([row["monotonic_ns"] for row in rows], np.int64)
    if len(at_ns) < 2:
        return None
    begins, ends = int(window[0][0]), int(window[1][-1])
    first, last = max(begins, int(at_ns[0])), min(ends, int(at_ns[-1]))
    if last - first < max(1, _MOST * (ends - begins)):
        return None
    known = np.array([first]), np.array([last])
    waited = [_waited_ns(rows, each) for each in them]
    ready_ns = sum(float(grown(at_ns, each, known).sum()) for each in waited)
    counters = [each.cpu for each in them]
    run_ns = sum(float(grown(each.at_ns, each.process_ns, known).sum()) for each in counters)
    return SideBySide(run_ns / (last - first), ready_ns / (last - first))


def _waited_ns(rows: list[dict[str, Any]], process: ProcessData) -> Ints:
    """So far: a thread that has ended counts no more, and takes its own time with it."""
    waited = np.array([row["waited_ns"].get(str(process.info.pid), 0) for row in rows], np.int64)
    more: Ints = np.cumsum(np.maximum(0, np.diff(waited, prepend=waited[0])))
    return more
