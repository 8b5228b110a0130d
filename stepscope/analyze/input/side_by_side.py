"""How many threads want a core at once: those that compute, and those that wait for their turn.

Most threads of a library's pool sleep. What counts is time: a second in which two threads computed
and two others were ready is a second with four. The supervisor counts how long all threads of a
process were ready; what they computed, the process counts itself.
"""

from collections.abc import Iterable

import numpy as np

from stepscope.analyze.counters import grown
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData, Run

Pairs = tuple[Ints, Ints]


def threads_at_once(run: Run, processes: Iterable[ProcessData], window: Pairs) -> float | None:
    """Of these processes together, on average between the looks that lie in the window. None: not
    counted there."""
    rows = [row for row in run.system if row.get("waited_ns")]
    at_ns = np.array([row["monotonic_ns"] for row in rows], np.int64)
    first, last = np.searchsorted(at_ns, (window[0][0], window[1][-1]))
    inside, at_ns = rows[first:last], at_ns[first:last]
    if len(inside) < 2:
        return None
    wanted_ns = 0.0
    for process in processes:
        waited = np.array([row["waited_ns"].get(str(process.info.pid), 0) for row in inside])
        wanted_ns += float(
            np.maximum(0, np.diff(waited)).sum()
        )  # a thread that ended counts no more
        cpu = process.cpu
        wanted_ns += float(grown(cpu.at_ns, cpu.process_ns, (at_ns[:1], at_ns[-1:])).sum())
    return wanted_ns / float(at_ns[-1] - at_ns[0])
