"""The innermost operator that ran around a call or a moment, on the same thread."""

import numpy as np

from stepscope.analyze.traces.devices import Table
from stepscope.analyze.traces.nesting import innermost
from stepscope.analyze.traces.operator_tree import op_tree
from stepscope.importers.trace import Category, Trace


def operators_around(trace: Trace, events: Table, column: str = "start_ns") -> list[str | None]:
    """Their names; None: nothing ran there. `column` has the moment of each event."""
    tree = op_tree(trace)
    within = innermost(tree.parent, tree.events["category"] == Category.OP)
    found: list[str | None] = [None] * len(events)
    for thread in np.unique(events["thread"]):
        here, entries = (np.flatnonzero(each["thread"] == thread) for each in (events, tree.events))
        starts = tree.events["start_ns"][entries]
        places = np.searchsorted(starts, events[column][here], side="right") - 1
        for index, place in zip(here.tolist(), places.tolist(), strict=True):
            entry = int(entries[place]) if place >= 0 else -1
            while entry >= 0 and tree.end_ns[entry] < events[column][index]:
                entry = int(tree.parent[entry])
            operator = int(within[entry]) if entry >= 0 else -1
            if operator >= 0:
                found[index] = trace.names[tree.events["name"][operator]]
    return found
