"""The ranks of a training of which there are traces only, side by side.

1. The steps are those that the trace marks, each up to the next.
2. Communication is the time in which a collective runs and nothing else does on the device; on the
   host, the time in a collective.
3. A rank waits from its own start of a collective to that of the last rank, at most to its end.
   The traces have one clock: their collectives end together.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import overlap_ns, step_of, union
from stepscope.analyze.ranks.straggler import Held, straggler
from stepscope.analyze.run import all_notes
from stepscope.analyze.traces.collective_calls import CollectiveCalls, collective_calls
from stepscope.analyze.traces.windows import trace_of
from stepscope.clock import Ints
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import ON_DEVICE, Category, Trace
from stepscope.model.ranks import RankRow, RanksAnswer
from stepscope.store.reader import ProcessData, Run

_STEP: Final = "ProfilerStep#"
_LOADER: Final = "enumerate(DataLoader)"
_UNSEEN: Final = (
    "No collective was found in the traces of two ranks, so it is not known which rank waits for "
    "which, and their clocks may differ."
)


@dataclasses.dataclass(frozen=True, eq=False)
class _Rank:
    number: int
    process: ProcessData
    start_ns: Ints  # of its steps
    end_ns: Ints
    calls: CollectiveCalls
    communication_ns: Ints  # by step, as the next ones
    input_ns: Ints
    waited_ns: Ints
    held_ns: Ints  # how long others wait for it where it comes last

    @property
    def step_ms(self) -> float | None:
        return _mean_ms(self.end_ns - self.start_ns)

    @property
    def mean_ms(self) -> dict[str, float]:
        known = {"communication": self.communication_ns, "input": self.input_ns}
        means = {name: _mean_ms(ns) or 0.0 for name, ns in known.items()}
        return means | {"compute": (self.step_ms or 0.0) - sum(means.values())}


def traced_ranks(run: Run, chosen: Mapping[int, ProcessData]) -> RanksAnswer:
    read = {number: (process, trace_of(process)) for number, process in chosen.items()}
    traces = {number: trace for number, (_, trace) in read.items() if not isinstance(trace, str)}
    calls = {number: collective_calls(trace) for number, trace in traces.items()}
    last = _last_starts(list(calls.values()))
    them = [
        _rank(number, chosen[number], trace, calls[number], last)
        for number, trace in traces.items()
    ]
    return RanksAnswer(
        ranks=[_row(each, bool(last)) for each in them],
        straggler=straggler(run, _held(them)),
        skew_ms=_skew_ms(them) if last else None,
        expected=_expected(traces.values()),
        notes=[*([] if last or len(them) < 2 else [_UNSEEN]), *all_notes(run)],
    )


def _last_starts(calls: Sequence[CollectiveCalls]) -> dict[str, tuple[int, int]]:
    """When the last rank comes to each collective, and when the first one does; of those that at
    least two ranks have."""
    starts: dict[str, list[int]] = {}
    for each in calls:
        for key, start_ns in zip(each.key, each.start_ns.tolist(), strict=True):
            starts.setdefault(key, []).append(start_ns)
    return {key: (max(at), min(at)) for key, at in starts.items() if len(at) > 1}


def _rank(
    number: int, process: ProcessData, trace: Trace, calls: CollectiveCalls,
    last: dict[str, tuple[int, int]],
) -> _Rank:  # fmt: skip
    start_ns, end_ns = _steps(trace)
    latest = np.array([last.get(key, (0, 0))[0] for key in calls.key], np.int64)
    first = np.array([last.get(key, (0, 0))[1] for key in calls.key], np.int64)
    waited = np.maximum(np.minimum(latest, calls.end_ns) - calls.start_ns, 0)
    held = np.where((latest > 0) & (calls.start_ns == latest), latest - first, 0)
    step = step_of(calls.start_ns, start_ns, end_ns)
    communication = _exposed(trace, calls)
    loads = _named(trace, _LOADER)
    return _Rank(
        number=number,
        process=process,
        start_ns=start_ns,
        end_ns=end_ns,
        calls=calls,
        communication_ns=overlap_ns(start_ns, end_ns, communication),
        input_ns=overlap_ns(start_ns, end_ns, union(*_interval(loads))),
        waited_ns=_by_step(step, waited, len(start_ns)),
        held_ns=_by_step(step, held, len(start_ns)),
    )


def _steps(trace: Trace) -> tuple[Ints, Ints]:
    """The last one as long as it is marked. Without marks, all of it is one."""
    begins, ends = _interval(_named(trace, _STEP))
    if not len(begins):
        start_ns, end_ns = _interval(trace.events)
        return np.array([start_ns.min(initial=2**62)]), np.array([end_ns.max(initial=0)])
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], ends[order]
    return begins, np.append(begins[1:], max(ends[-1], begins[-1] + 1))


def _named(trace: Trace, beginning: str) -> npt.NDArray[Any]:
    wanted = [number for number, name in enumerate(trace.names) if name.startswith(beginning)]
    events = trace.of(Category.ANNOTATION, Category.OP)
    found: npt.NDArray[Any] = events[np.isin(events["name"], wanted)]
    return found


def _interval(events: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    return events["start_ns"], events["start_ns"] + events["duration_ns"]


def _exposed(trace: Trace, calls: CollectiveCalls) -> tuple[Ints, Ints]:
    """Stretches with a collective and nothing else on the device: all stretches, without those."""
    names = [number for number, name in enumerate(trace.names) if not is_collective(name)]
    device = trace.of(*ON_DEVICE)
    busy = union(*_interval(device[np.isin(device["name"], names)]))
    both = union(np.concatenate([busy[0], calls.start_ns]), np.concatenate([busy[1], calls.end_ns]))
    edges = np.unique(np.concatenate([*both, *busy]))
    starts, ends = edges[:-1], edges[1:]
    kept = (overlap_ns(starts, ends, both) > 0) & (overlap_ns(starts, ends, busy) == 0)
    return starts[kept], ends[kept]


def _by_step(step: Ints, ns: Ints, count: int) -> Ints:
    total = np.zeros(count, np.int64)
    np.add.at(total, step[step >= 0], ns[step >= 0])
    return total


def _row(each: _Rank, is_known: bool) -> RankRow:
    communication, step_ms = _mean_ms(each.communication_ns) or 0.0, each.step_ms
    waiting = min(_mean_ms(each.waited_ns) or 0.0, communication) if is_known else None
    return RankRow(
        rank=each.number,
        host=each.process.info.host,
        pid=each.process.info.pid,
        steps=len(each.start_ns),
        step_ms=step_ms,
        own_ms=None if step_ms is None else step_ms - communication,
        communication_ms=communication,
        waiting_ms=waiting,
        input_ms=_mean_ms(each.input_ns),
        status=each.process.info.status,
        transfer_ms=communication - (waiting or 0.0),
    )


def _mean_ms(ns: Ints) -> float | None:
    return float(ns.mean()) / 1e6 if len(ns) else None


def _held(them: Sequence[_Rank]) -> list[Held]:
    count = min((len(each.start_ns) for each in them), default=0)
    return [
        Held(each.number, each.process, len(each.start_ns), each.held_ns[:count], each.mean_ms)
        for each in them
    ]


def _skew_ms(them: Sequence[_Rank]) -> float | None:
    count = min(len(each.start_ns) for each in them)
    return _mean_ms(np.max([each.waited_ns[:count] for each in them], axis=0))


def _expected(traces: Any) -> int | None:
    sizes = [trace.head.get("distributedInfo") for trace in traces]
    found = [each.get("world_size") for each in sizes if isinstance(each, dict)]
    return next((size for size in found if isinstance(size, int)), None)
