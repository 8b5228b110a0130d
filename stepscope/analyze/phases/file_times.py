"""What each opened file took, so that no moment counts for two files.

1. A file has the time from its opening to the end of the activation that opened it. Where that
   says nothing about the file (see `Opens.is_whole`), it has what its lines usually take, from the
   first file that they open on, up to the next phase or step that begins or ends.
2. Within that, the time from the opening of another file on belongs to the other one, for as long
   as the other one has time, and what is spent importing belongs to no file.
3. What is opened in order to import has no time of its own: it is part of the imports.
"""

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import Intervals, exclusive_by_step
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.analyze.phases.opened_files import Opens
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData


def time_of_opens(process: ProcessData, steps: FoundSteps, opens: Opens) -> npt.NDArray[np.int64]:
    """One figure per entry of `opens`; those of a thread sum to its time at most."""
    found = np.zeros(len(opens.name), np.int64)
    end_ns = ends_of_opens(process, steps, opens)
    for thread in np.unique(opens.thread).tolist():
        mine = np.flatnonzero((opens.thread == thread) & ~opens.is_importing)
        found[mine] = _exclusive(process, thread, opens.at_ns[mine], end_ns[mine])
    return found


def _exclusive(
    process: ProcessData, thread: int, at_ns: Ints, end_ns: Ints
) -> npt.NDArray[np.int64]:
    begun, ended = process.spans.of(SpanCategory.IMPORT).on(thread).interval_ns
    start = np.concatenate([at_ns, begun])
    end = np.concatenate([end_ns, ended])
    if not len(at_ns):
        return np.zeros(0, np.int64)
    # All imports share the last label, which nobody reads.
    label = np.minimum(np.arange(len(start)), len(at_ns))
    whole = np.array([start.min()]), np.array([end.max() + 1])
    table = exclusive_by_step(Intervals.sorted(start, end, label), *whole, len(at_ns) + 1)
    return table[0, :-1]


def ends_of_opens(process: ProcessData, steps: FoundSteps, opens: Opens) -> Ints:
    """When each file's time is over: with its activation or line, or at the next file of those."""
    end_ns = opens.end_ns.copy()
    limit_ns = _next_edges(process, steps, opens)
    turns: dict[tuple[object, ...], tuple[int, int]] = {}  # until when, and the last file so far
    for index in np.argsort(opens.at_ns, kind="stable").tolist():
        if opens.is_importing[index]:
            continue
        key, at_ns = _turn(process, opens, index), int(opens.at_ns[index])
        until, last = turns.get(key, (-1, -1))
        if until > at_ns:
            end_ns[last] = at_ns
        else:
            until = min(at_ns + int(opens.line_ns[index]), int(limit_ns[index]))
            until = int(opens.end_ns[index]) if opens.is_whole[index] else until
        end_ns[index] = until
        turns[key] = until, index
    return end_ns


def _next_edges(process: ProcessData, steps: FoundSteps, opens: Opens) -> Ints:
    """When the next phase or step begins or ends after each opening, on the thread of the steps."""
    never = np.iinfo(np.int64).max
    spans = phase_spans(process, steps)
    edges = spans.start_ns, spans.end_ns, steps.start_ns, steps.end_ns
    after = np.append(np.sort(np.concatenate(edges)), never)
    found = after[np.searchsorted(after, opens.at_ns, side="right").clip(max=len(after) - 1)]
    return np.where((opens.thread == steps.thread_at(opens.at_ns)) & (len(steps) > 0), found, never)


def _turn(process: ProcessData, opens: Opens, index: int) -> tuple[object, ...]:
    """The activation whose time is divided among its files, or the line."""
    thread = int(opens.thread[index])
    if opens.is_whole[index]:
        return thread, int(opens.start_ns[index]), int(opens.end_ns[index])
    name = process.names.opens.get(int(opens.name[index]))
    return (thread, name.code, name.line) if name else (thread, None, int(opens.name[index]))
