"""What limits the input, and a sentence that says so.

1. Steps that wait less than 5 % of their time for batches that are not ready are not limited by
   input.
2. What the training process waits for shows in what happens meanwhile: workers start; a batch is
   on its way, from workers that could do more; or they load.
3. If they load, more workers help as long as cores are idle; otherwise only less work does. How
   many is what the finding works out: it plays the steps through with each number.
"""

import dataclasses
from typing import Final

import numpy as np

from stepscope.analyze.input.cores import LEAST_IDLE
from stepscope.analyze.input.loaders import Loader, Pairs, stage_union
from stepscope.analyze.intervals import overlap_ns, step_of, union
from stepscope.model import InputLine, Limit
from stepscope.model.durations import duration
from stepscope.model.shares import percent
from stepscope.store.reader import ProcessData

_LEAST_WAIT: Final = 0.05  # of the step
_MOST: Final = 0.5
_BUSY: Final = 0.8  # of the workers' time
LIMIT_WORDS: Final[dict[Limit, str]] = {  # after "Limited by "
    "work": "the work to load a batch",
    "number": "the number of workers",
    "transfer": "the transfer of batches from the workers",
    "start-up": "starting the workers",
    "nothing": "nothing",
}


@dataclasses.dataclass(frozen=True)
class Facts:
    """What the decision and its message need."""

    workers: int | None
    wait_ms: float
    ready_ms: float  # of that, to take batches that are ready
    step_ms: float
    load_ms: float  # fetch and collate of a batch, in one process
    cores: float | None
    idle_cores: float | None
    starts: int  # of workers
    start_up_ms: float | None
    start_share: float  # of the wait
    transfer_share: float  # of the rest
    get_ms: float  # to take a batch from the workers
    hottest: InputLine | None
    busy: float | None  # the workers, loading
    slow_ms: float = 0.0  # by step: what slow ones wait above that
    fetching: float = 1.0  # of the wait, without workers: the rest is the sampler

    @property
    def wait_share(self) -> float:
        return self.wait_ms / max(self.step_ms, 1e-6)


def limit(facts: Facts) -> tuple[Limit, str]:
    if facts.wait_ms + facts.slow_ms - facts.ready_ms < _LEAST_WAIT * facts.step_ms:
        return "nothing", _nothing_words(facts)
    if facts.start_share >= _MOST:
        return "start-up", _start_up_words(facts)
    if facts.transfer_share >= _MOST and _could_do_more(facts):
        return "transfer", _transfer_words(facts)
    if facts.workers is None:
        return "work", f"loading happens in the training process: less work in it{_at(facts)}"
    if not facts.workers and facts.fetching < _MOST:
        return "work", (
            "most of the wait is for the sampler, which runs in the training process with workers, "
            "too: less work in it"
        )
    return _work_or_number(facts)


def _could_do_more(facts: Facts) -> bool:
    """Where no core is idle, workers and batches wait for one: only a transfer that takes longer
    than the loading is then known to be the reason."""
    has_room = facts.idle_cores is None or facts.idle_cores >= LEAST_IDLE
    is_idle = bool(facts.workers) and (facts.busy or 0.0) < _BUSY
    return is_idle and (has_room or facts.get_ms > facts.load_ms)


def _work_or_number(facts: Facts) -> tuple[Limit, str]:
    less = f"less work{_at(facts)}"
    if facts.workers and facts.busy is not None and facts.busy < _MOST:
        return "work", (
            f"the workers have nothing to do {percent(1 - facts.busy)} of the time, but some "
            f"batches come late: {less}, or a larger prefetch_factor"
        )
    if facts.workers:
        begins, more = (
            f"the workers are busy {percent(facts.busy or 0.0)} of the time",
            "more workers",
        )
    else:
        share = percent(facts.wait_share)
        begins, more = f"loading happens in the training process, {share} of each step", "workers"
    if facts.idle_cores is not None and facts.idle_cores < LEAST_IDLE:
        return "work", f"{begins}, and no core is idle: {more} gain nothing, {less} does"
    idle = "" if facts.idle_cores is None else f", and {_cores(facts)} idle"
    return "number", f"{begins}{idle}: use {more}, or do {less}"


def _cores(facts: Facts) -> str:
    idle = facts.idle_cores or 0.0
    return f"{idle:.1f} of {facts.cores:g} cores are"


def _at(facts: Facts) -> str:
    return at(facts.hottest) if facts.hottest else " in the dataset"


def at(line: InputLine) -> str:
    function = (line.function or "the dataset").rpartition(".")[2]
    return f" in {function} ({line.file}:{line.line})"


def _nothing_words(facts: Facts) -> str:
    waits = f"the steps wait {percent(facts.wait_share)} of their time for input"
    return (
        waits
        if facts.wait_share < _LEAST_WAIT
        else f"{waits}, mostly to take batches that are ready"
    )


def _start_up_words(facts: Facts) -> str:
    each = f"{duration(1e6 * (facts.start_up_ms or 0.0))} each"
    if facts.starts > 1:
        return (
            f"most of the wait is for workers to start ({facts.starts} times, {each}): "
            "persistent_workers=True keeps them"
        )
    return f"most of the wait is for the first batch of an epoch ({each}): less work{_at(facts)}"


def _transfer_words(facts: Facts) -> str:
    send_less = "send less, as tensors and not as Python objects"
    get, load = duration(1e6 * facts.get_ms), duration(1e6 * facts.load_ms)
    if facts.get_ms > facts.load_ms:
        return (
            f"taking a batch from the workers costs {get}, loading it without them would cost "
            f"{load}: num_workers=0, or {send_less}"
        )
    share = percent(facts.transfer_share)
    return f"{share} of the wait is for batches on their way from the workers: {send_less}"


# --- what happens while the training process waits ------------------------------------------------


def start_ups(loader: Loader) -> Pairs:
    """From each start with workers to the end of the first wait after it."""
    if not loader.workers or not len(loader.starts[0]) or not len(loader.waits[0]):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    begin, begun = loader.starts
    first = np.searchsorted(loader.waits[0], begun)
    known = first < len(loader.waits[0])
    return begin[known], loader.waits[1][first[known]]


def start_up_ms(loader: Loader) -> float | None:
    """The mean of these waits."""
    begin, end = start_ups(loader)
    if not len(begin):
        return None
    return float(overlap_ns(begin, end, _all_waits(loader)).mean()) / 1e6


def _all_waits(loader: Loader) -> Pairs:
    starts = np.concatenate([loader.waits[0], loader.starts[0]])
    ends = np.concatenate([loader.waits[1], loader.starts[1]])
    return union(starts, ends)


def waits_in(loader: Loader, window: Pairs) -> Pairs:
    """The waits that begin in the window."""
    starts, ends = _all_waits(loader)
    inside = step_of(starts, *window) >= 0
    return starts[inside], ends[inside]


def shares_of_wait(process: ProcessData, loader: Loader, waits: Pairs) -> tuple[float, float]:
    """(share of the wait in which workers start; share of the rest in which a batch is being taken,
    or sent while none is loaded)."""
    whole_ns = _total(waits)
    starting = union(*start_ups(loader))
    rest = _without(waits, starting)
    loading = stage_union(loader.processes, "fetch")
    receiving = stage_union([process], "get")
    sending = stage_union(loader.processes, "send")
    moving = union(*(np.concatenate(pair) for pair in zip(receiving, sending, strict=True)))
    idle_rest = _without(rest, _without(loading, receiving))
    moved_ns = int(overlap_ns(*idle_rest, moving).sum())
    start_share = 1.0 - _total(rest) / whole_ns if whole_ns else 0.0
    return start_share, moved_ns / max(1, _total(rest))


def _total(pairs: Pairs) -> int:
    return int((pairs[1] - pairs[0]).sum())


def _without(pairs: Pairs, taken: Pairs) -> Pairs:
    """What is left of a union when another one is taken out."""
    edges = np.unique(np.concatenate([*pairs, *taken]))
    start, end = edges[:-1], edges[1:]
    kept = (step_of(start, *pairs) >= 0) & (step_of(start, *taken) < 0)
    return union(start[kept], end[kept])
