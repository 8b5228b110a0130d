"""Objects in reference cycles: their memory stays until the garbage collector gets to them."""

from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.store.events import Spans
from stepscope.store.format import SpanCategory

_OLDER: Final = 2  # the generation that objects are in which the youngest's collections left


def are_made(case: Case) -> bool:
    """Whether collections found something in the measured steps, an object a step or more."""
    return int(_collections(case).freed_objects.sum()) >= len(case.measured_ns)


def first_older_collection_ns(case: Case) -> int | None:
    """When it ended: until then, what the youngest's collections came too early for piles up."""
    spans = _collections(case)
    ends = spans.end_ns[spans.generation >= _OLDER]
    return int(ends.min()) if len(ends) else None


def _collections(case: Case) -> Spans:
    """Those of the measured steps."""
    spans = case.process.spans.of(SpanCategory.GC)
    return spans[(spans.start_ns >= case.window[0][0]) & (spans.end_ns <= case.window[1][-1])]
