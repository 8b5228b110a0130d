"""Builds a run whose steps wait for their batches: how long, and for what, is known."""

from pathlib import Path

from build import MS, ProcessBuilder, RunBuilder
from stepscope.store.format import SpanCategory

_STEPS, _STEP_NS = 40, 20 * MS
_WORKER = 101


def waiting_run(
    path: Path, *, late_ms: float, taking_ms: float, loading_ms: float = 15, workers: int = 1
) -> Path:
    """Each step of 20 ms waits `late_ms` until its batch arrives, takes it in `taking_ms`, and
    trains. Without workers it takes what it loads itself."""
    run = RunBuilder(path)
    process = run.process()
    loader = {"loader": 1, "loader_workers": workers}
    if workers:
        _load(run.process(pid=_WORKER, role="worker", parent_pid=100), loading_ms)
        process.span(SpanCategory.STAGE, 0, 1, name="worker", worker_pid=_WORKER, **loader)
    process.step(0, begins=True)
    for step in range(_STEPS):
        at = _STEP_NS * step
        arrived, taken = at + round(late_ms * MS), at + round((late_ms + taking_ms) * MS)
        process.span(SpanCategory.INPUT, at, taken, name="batch", samples=8, **loader)
        if workers:
            process.span(SpanCategory.STAGE, arrived, taken - 1, name="get")
        process.span(SpanCategory.FORWARD, taken, at + _STEP_NS - MS)
        process.step(at + _STEP_NS)
    process.write()
    return run.path


def _load(worker: ProcessBuilder, loading_ms: float) -> None:
    for step in range(_STEPS):
        at = _STEP_NS * step
        loaded = at + round(loading_ms * MS)
        worker.span(SpanCategory.STAGE, at, loaded, name="fetch")
        worker.span(SpanCategory.STAGE, loaded, at + _STEP_NS, name="wait for work")
    worker.write()
