"""Steps of a script that updates its parameters by hand: no optimizer says when a step is over, and
its loop may be out of sight (in a library, in a recursion).

1. Each gradient makes a step, which ends where the next batch or forward pass begins: the update
   lies in between. If nothing shows that, it ends with the gradient.
2. A loop that was found wins, if its turns have gradients, and not so many that they are epochs.
"""

from typing import Final

import numpy as np

from stepscope.analyze.intervals import step_of
from stepscope.analyze.steps.anchors import Anchors, are_on_busiest, loop_of_ends, span_name
from stepscope.analyze.steps.loops import Loop
from stepscope.analyze.steps.optimizer_runs import ONE_TRAINING
from stepscope.clock import Ints
from stepscope.store.events import Spans
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

_LEAST: Final = 10  # gradients: fewer may be a check of the model
_MOST_IN_A_STEP: Final = 8  # two networks, accumulated batches
_BEGINNERS: Final = (SpanCategory.INPUT, SpanCategory.TRANSFER, SpanCategory.FORWARD)


def find_gradients(
    process: ProcessData, loops: list[Loop], start_ns: Ints, end_ns: Ints
) -> Anchors | None:
    """`start_ns`, `end_ns`: the turns of the loop that was found; None: those are the steps."""
    backward = process.spans.of(SpanCategory.BACKWARD)
    backward = backward[backward.is_done]
    backward = backward[are_on_busiest(backward.thread)] if len(backward) else backward
    if len(backward) < _LEAST or _are_in_turns(backward, start_ns, end_ns):
        return None
    backward = backward.by_start()
    thread = int(backward.thread[0])
    ends_ns = _updated_ns(process.spans.on(thread), backward)
    loop = loop_of_ends(ends_ns, loops, thread)
    what = span_name(process, backward.name[0], "gradients")
    return Anchors(ends_ns, thread, what, (loop,), ONE_TRAINING)


def _are_in_turns(backward: Spans, start_ns: Ints, end_ns: Ints) -> bool:
    step = step_of(backward.start_ns, start_ns, end_ns)
    used = len(np.unique(step[step >= 0]))
    inside = int((step >= 0).sum())
    return 2 * inside >= len(backward) and inside <= _MOST_IN_A_STEP * used


def _updated_ns(spans: Spans, backward: Spans) -> Ints:
    """Where what follows each gradient begins, before the next gradient; else its own end."""
    begins_ns = np.sort(spans.of(*_BEGINNERS).start_ns)
    ends_ns = backward.end_ns
    following = np.append(begins_ns, np.iinfo(np.int64).max)[np.searchsorted(begins_ns, ends_ns)]
    next_ns = np.append(backward.start_ns[1:], ends_ns[-1:])
    return np.where(following <= next_ns, following, ends_ns)
