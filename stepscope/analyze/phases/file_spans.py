"""The files that steps open, as spans among their phases.

1. A file that is read is `files`. What is written is `logging` if it is a log, else `checkpoint`.
2. Inside input, evaluation, saving and logging it is part of those.
3. If the activation that opened it is not its cost, the span lasts as long as its lines usually
   do, up to the next phase that begins or ends, or to the end of the step.
"""

import functools
from typing import Final

import numpy as np

from stepscope.analyze import intervals
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.analyze.phases.opened_files import Opens, is_log, read_opens
from stepscope.analyze.phases.span_table import Mask, Spans, owner_at
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

FILES: Final = int(max(SpanCategory)) + 1  # a category that nothing records
_OWNERS: Final = (
    SpanCategory.INPUT,
    SpanCategory.EVALUATION,
    SpanCategory.CHECKPOINT,
    SpanCategory.LOGGING,
    SpanCategory.COMPILE,
    SpanCategory.PROFILER,
)


@functools.lru_cache(maxsize=64)
def activity_spans(process: ProcessData, steps: FoundSteps) -> Spans:
    """The phases on the steps' thread, and the files that are opened in them."""
    spans = phase_spans(process, steps)
    opens = read_opens(process, steps)
    kept = (opens.step >= 0) & (opens.thread == steps.thread_at(opens.at_ns)) & ~opens.is_importing
    kept &= ~np.isin(owner_at(spans, opens.at_ns), _OWNERS)
    if not kept.any():
        return spans
    whole = kept & opens.is_whole & _nests(spans, opens)
    found = spans
    for label, mine in _labels(process, opens):
        start, end = intervals.union(opens.start_ns[whole & mine], opens.end_ns[whole & mine])
        found = found.plus(start, end, label)
        start, end = _lines(found, steps, opens, kept & ~opens.is_whole & mine)
        found = found.plus(start, end, label)
    return found


def _labels(process: ProcessData, opens: Opens) -> list[tuple[int, Mask]]:
    logs = [id for id, name in process.names.opens.items() if is_log(name.path)]
    is_logs = np.isin(opens.name, logs)
    return [
        (FILES, ~opens.is_writing),
        (int(SpanCategory.LOGGING), opens.is_writing & is_logs),
        (int(SpanCategory.CHECKPOINT), opens.is_writing & ~is_logs),
    ]


def _nests(spans: Spans, opens: Opens) -> Mask:
    """Activations with no phase that lies half inside: as many begin in them as end."""
    starts, ends = np.sort(spans.start_ns), np.sort(spans.end_ns)
    begun, ended = (
        np.searchsorted(at, opens.end_ns) - np.searchsorted(at, opens.start_ns, side="right")
        for at in (starts, ends)
    )
    mask: Mask = begun == ended
    return mask


def _lines(spans: Spans, steps: FoundSteps, opens: Opens, kept: Mask) -> tuple[Ints, Ints]:
    """From the first file that a line opens, as long as the line usually takes, in this step."""
    edges = np.sort(np.concatenate([spans.start_ns, spans.end_ns, steps.end_ns]))
    edges = np.append(edges, np.iinfo(np.int64).max)
    starts, ends = [], []
    for cost in np.unique(opens.line_ns[kept]).tolist():
        at_ns = np.sort(opens.at_ns[kept & (opens.line_ns == cost)])
        index = 0
        while cost and index < len(at_ns):
            start = int(at_ns[index])
            next_edge = int(edges[np.searchsorted(edges, start, side="right")])
            starts.append(start)
            ends.append(min(start + cost, next_edge))
            index = int(np.searchsorted(at_ns, start + cost))
    return intervals.union(np.array(starts, np.int64), np.array(ends, np.int64))
