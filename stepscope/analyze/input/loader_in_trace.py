"""How long the steps of torch's traces wait for their loader."""

from typing import Final

from stepscope.analyze.input.limits import LIMIT_WORDS
from stepscope.analyze.input.waits_in_trace import TraceWaits, waits_in_trace
from stepscope.analyze.run import all_notes
from stepscope.analyze.traces.marks import LOADERS
from stepscope.analyze.traces.windows import read_window, windows
from stepscope.clock import Ints
from stepscope.importers.trace import Trace
from stepscope.model import InputAnswer, Limit, LoaderRow
from stepscope.model.shares import percent
from stepscope.store.reader import ProcessData, Run

LEAST_WAIT: Final = 0.05  # of the step
_LEAST_WAIT_NS: Final = 1_000_000
_LEAST_SHARE: Final = 0.01  # of the mean step
_IN_STEP: Final = "SingleProcess"  # the iterator of a loader without workers
_NOT_MARKED: Final = "Nothing marks the steps in this trace: it is taken as one."


def loading_in_trace(run: Run, process: ProcessData) -> InputAnswer | None:
    """None: nothing in the trace is a loader of torch."""
    for window in windows(process):
        trace = read_window(window)
        if isinstance(trace, str):
            continue
        waits = waits_in_trace(trace, None)
        if waits.are_any:
            return _answer(run, trace, waits)
    return None


def _answer(run: Run, trace: Trace, waits: TraceWaits) -> InputAnswer:
    workers = _workers(trace)
    loader = loader_row(waits.wait_ns, waits.duration_ns, waits.wait_ns, workers=workers)
    limit, why = _limit(loader)
    marked = [] if waits.is_by_step else [_NOT_MARKED]
    notes = [*all_notes(run), *trace.notes, *marked, *waits.about_hidden]
    return InputAnswer(
        loader=loader, limit=limit, why=why, stages=[], lines=[], library=[], start_up_ms=None,
        notes=notes, limited_by=LIMIT_WORDS[limit],
    )  # fmt: skip


def _workers(trace: Trace) -> int | None:
    """None: some, but the trace does not say how many."""
    loaders = [name for name in trace.names if name.startswith(LOADERS)]
    return 0 if loaders and all(_IN_STEP in name for name in loaders) else None


def _limit(loader: LoaderRow) -> tuple[Limit, str]:
    if loader.share < LEAST_WAIT:
        return "nothing", no_wait_words(loader)
    if loader.workers == 0:
        return "number", "the loader has no workers: batches are loaded in the step itself"
    return "work", "the workers are slower than the steps"


def no_wait_words(loader: LoaderRow) -> str:
    return f"the steps wait {percent(loader.share)} of their time for input"


def loader_row(
    wait_ns: Ints,
    duration_ns: Ints,
    usual_ns: Ints,
    *,
    workers: int | None = None,
    batch_size: int | None = None,
) -> LoaderRow:
    """`usual_ns`: without what slow steps wait above the others, where that is known."""
    least_ns = max(_LEAST_WAIT_NS, _LEAST_SHARE * float(duration_ns.mean()))
    return LoaderRow(
        workers=workers,
        batch_size=batch_size,
        wait_ms=float(usual_ns.mean()) / 1e6,
        share=float(usual_ns.sum() / max(1, duration_ns.sum())),
        steps_that_waited=int((wait_ns > least_ns).sum()),
        steps=len(wait_ns),
        longest_ms=float(wait_ns.max()) / 1e6,
    )
