"""The actions of a framework's own profiler (Lightning), nested: a parent is its own time and its
children's."""

import numpy as np

from stepscope.analyze.answers.span_tree import Totals, add_spans, depth_first
from stepscope.analyze.run import all_notes
from stepscope.model import ActionRow, ActionsAnswer
from stepscope.store.format import SpanCategory
from stepscope.store.reader import Run


def actions(run: Run) -> ActionsAnswer:
    """Of the main process, or of the one asked for. Shares are of its whole time."""
    process = run.main
    if process is None:
        return ActionsAnswer(actions=[], total_ns=0, notes=all_notes(run))
    total_ns = max(1, process.end_ns - process.start_ns)
    no_steps = np.zeros(0, np.int64), np.zeros(0, np.int64)
    totals: Totals = {}
    add_spans(totals, process, SpanCategory.ACTION, no_steps)
    rows = [
        ActionRow(
            name=path[-1],
            depth=len(path) - 1,
            calls=total.calls,
            total_ns=total.total_ns,
            self_ns=total.self_ns,
            mean_ns=total.total_ns // max(1, total.calls),
            share=total.total_ns / total_ns,
        )
        for path, total in ((path, totals[path]) for path in depth_first(totals))
    ]
    return ActionsAnswer(actions=rows, total_ns=total_ns, notes=all_notes(run))
