"""The steps in another tool's categories: XProf's, for runs and for traces.

1. A trace that says which step caused which event has its own steps.
2. In other traces, what ran in each step is sorted into XProf's kinds.
3. In a run whose operator windows saw a device, the same for the steps in them.
4. In any other run the phases are given XProf's names: all the compute is the host's.
"""

from functools import partial
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.analyze.input.waits_in_trace import waits_in_trace
from stepscope.analyze.intervals import Indices, IntervalOf
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.analyze.traces import xprof_steps as xprof
from stepscope.analyze.traces.marks import LOADERS, STEP, interval, marked_words, named
from stepscope.analyze.traces.tensorboard_steps import step_spans
from stepscope.analyze.traces.windows import (
    Window,
    read_causes,
    read_window,
    trace_of,
    windows,
)
from stepscope.clock import Ints
from stepscope.errors import DataError, InputError
from stepscope.importers.trace import ON_DEVICE, Category, Trace
from stepscope.model import Rate, Share, Spread, Step, StepsAnswer
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData, Run

_OF_PHASES: Final = {
    "input": xprof.INPUT,
    "transfer": xprof.INPUT,
    "compile": xprof.COMPILE,
    **dict.fromkeys(
        ("forward", "backward", "optimizer", "compute", "evaluation", "communication", "sync"),
        xprof.HOST,
    ),
}
_MARK_WITH: Final = {
    "torch": "torch.profiler's schedule and step()",
    "tensorflow": "tf.profiler.experimental.Trace('train', step_num=..., _r=1)",
    "jax": "jax.profiler.StepTraceAnnotation('train', step_num=...)",
}
_FROM_WINDOWS: Final = "From the steps in operator windows: the device is known only there."
_Table = npt.NDArray[np.int64]


def in_xprof_scheme(run: Run, process: ProcessData, answer: StepsAnswer) -> StepsAnswer:
    """The answer about a process, which must have each step, in XProf's categories."""
    found = find_steps(run, process)
    table = _of_windows(process, found)
    if table is not None:
        kept, ns = table
        start_ns = found.start_ns[kept] - process.start_ns
        in_windows = steps_answer(
            start_ns, found.duration_ns[kept], ns, answer.anchor, None, kept + 1
        )
        return msgspec.structs.replace(
            in_windows, steps=answer.steps, warmup=answer.warmup, overhead=answer.overhead,
            notes=[*answer.notes, _FROM_WINDOWS],
        )  # fmt: skip
    return _of_phases(answer)


def no_steps(trace: Trace) -> InputError:
    """In the words of the framework that recorded it."""
    known = _MARK_WITH.get(trace.framework or "")
    ways = known or " or ".join(", ".join(_MARK_WITH.values()).rsplit(", ", 1))
    return InputError(
        f"'{trace.path}': No steps found: nothing in the trace marks any. Mark them with {ways}."
    )


def _of_phases(answer: StepsAnswer) -> StepsAnswer:
    def renamed(phases: dict[str, Any]) -> dict[str, Any]:
        totals = dict.fromkeys(xprof.CATEGORIES, 0)
        for phase, value in phases.items():
            totals[_OF_PHASES.get(phase, xprof.OTHER)] += value
        return {name: value for name, value in totals.items() if value}

    breakdown = None
    if answer.breakdown is not None:
        ms = renamed({share.category: share.ms for share in answer.breakdown})
        shares = renamed({share.category: share.share for share in answer.breakdown})
        breakdown = [
            Share(category=name, share=shares[name], ms=ms[name], device_ms=None) for name in ms
        ]
    each = answer.each
    if isinstance(each, list):
        each = [msgspec.structs.replace(step, phases=renamed(step.phases)) for step in each]
    return msgspec.structs.replace(answer, breakdown=_sorted(breakdown), each=each)


def _sorted(breakdown: list[Share] | None) -> list[Share] | None:
    return sorted(breakdown, key=lambda share: -share.ms) if breakdown is not None else None


def steps_answer(
    start_ns: Ints, duration_ns: Ints, ns: _Table, anchor: str | None,
    is_measured: npt.NDArray[np.bool_] | None, numbers: Ints,
    categories: tuple[str, ...] = xprof.CATEGORIES,
) -> StepsAnswer:  # fmt: skip
    """`is_measured`: all, if None."""
    if is_measured is None:
        is_measured = np.ones(len(start_ns), np.bool_)
    ms = duration_ns[is_measured] / 1e6
    p10, median, p90 = (float(value) for value in np.percentile(ms, [10, 50, 90]))
    mean = float(ms.mean())
    means = ns[is_measured].mean(axis=0) / 1e6
    breakdown = [
        Share(category=name, share=value / max(mean, 1e-9), ms=value, device_ms=None)
        for name, value in zip(categories, means.tolist(), strict=True)
    ]
    each = [
        Step(start_ns=start, duration_ns=lasted, measured=measured, number=number,
             phases=dict(zip(categories, row, strict=True)))
        for start, lasted, row, measured, number in zip(
            start_ns.tolist(), duration_ns.tolist(), ns.tolist(), is_measured.tolist(),
            numbers.tolist(), strict=True)
    ]  # fmt: skip
    return StepsAnswer(
        steps=len(start_ns),
        warmup=0,
        measured=int(is_measured.sum()),
        step_ms=Spread(mean=mean, median=median, p10=p10, p90=p90),
        rate=Rate(per_s=1e3 / max(mean, 1e-9), samples_per_s=None),
        breakdown=_sorted(breakdown),
        bound=None,
        overhead=None,
        reason=None,
        anchor=anchor,
        each=each,
    )


# --- traces ---------------------------------------------------------------------------------------


def of_trace(process: ProcessData) -> StepsAnswer:
    """The steps of a trace without a recording around it."""
    trace = trace_of(process)
    if isinstance(trace, str):
        raise DataError(trace)
    causes = read_causes(trace.path)
    is_whole = None
    if causes is not None:
        found = xprof.xprof_steps(causes)
        start_ns, end_ns, numbers = found.start_ns, found.end_ns, found.numbers
        ns, is_whole = found.ns, found.is_whole
    else:
        spans = step_spans(trace)
        start_ns, end_ns, numbers = spans.start_ns, spans.end_ns, spans.numbers
        ns = _by_time(trace, start_ns, end_ns)
    if not len(start_ns):
        raise no_steps(trace)
    first_ns = int(start_ns.min())
    answer = steps_answer(
        start_ns - first_ns, end_ns - start_ns, ns, marked_words(numbers), is_whole, numbers.number
    )
    waits = waits_in_trace(trace, causes).about_category(xprof.INPUT)
    return msgspec.structs.replace(answer, notes=[*trace.notes, *waits])


def _by_time(
    trace: Trace, start_ns: Ints, end_ns: Ints, more: tuple[Ints, Ints, Ints] | None = None
) -> _Table:
    """What ran in each stretch of time; `more`: kinds, starts and ends of what else is known."""
    kind: npt.NDArray[Any] = _kinds(trace)
    interval_of: IntervalOf = partial(_interval_of, trace)
    if more is not None:
        kind, interval_of = _with(kind, interval_of, more)
    return xprof.categories_of(kind, interval_of, (start_ns, end_ns))


def _kinds(trace: Trace) -> npt.NDArray[np.int8]:
    """Of each event, -1: none."""
    events = trace.events
    of_name = np.array([xprof.device_kind(name) for name in trace.names] or [0], np.int8)
    kind: npt.NDArray[np.int8] = of_name[events["name"]]
    kind[trace.is_of(Category.OP, Category.ANNOTATION)] = xprof.KIND["host compute"]
    kind[trace.is_of(Category.RUNTIME)] = xprof.KIND["launch"]
    kind[named(trace, *LOADERS)] = xprof.KIND["wait for input"]
    is_seen = trace.is_of(Category.OP, Category.ANNOTATION, Category.RUNTIME, *ON_DEVICE)
    kind[~is_seen | events["is_input"] | named(trace, STEP)] = -1
    return kind


def _interval_of(trace: Trace, chosen: Indices) -> tuple[Ints, Ints]:
    return interval(trace.events[chosen])


def _with(
    kind: npt.NDArray[Any], interval_of: IntervalOf, more: tuple[Ints, Ints, Ints]
) -> tuple[npt.NDArray[Any], IntervalOf]:
    """And more of them, with their own kinds."""
    count = len(kind)

    def of_both(chosen: Indices) -> tuple[Ints, Ints]:
        first, others = interval_of(chosen[chosen < count]), chosen[chosen >= count] - count
        return np.append(first[0], more[1][others]), np.append(first[1], more[2][others])

    return np.append(kind, more[0]), of_both


# --- runs -----------------------------------------------------------------------------------------


def _of_windows(process: ProcessData, found: FoundSteps) -> tuple[Ints, _Table] | None:
    """The steps that lie in windows that saw a device."""
    steps: list[Ints] = []
    tables: list[_Table] = []
    for window in windows(process):
        trace = read_window(window)
        if isinstance(trace, str) or not trace.has_device:
            continue
        inside = _inside(window, found)
        if len(inside):
            to_unix = -process.clock.monotonic_ns(0)
            bounds = found.start_ns[inside] + to_unix, found.end_ns[inside] + to_unix
            steps.append(inside)
            tables.append(_by_time(trace, *bounds, _spans(process, found, to_unix)))
    return (np.concatenate(steps), np.concatenate(tables)) if steps else None


def _inside(window: Window, found: FoundSteps) -> Ints:
    if window.start_ns is None or window.end_ns is None:
        return np.zeros(0, np.int64)
    return np.flatnonzero((found.start_ns >= window.start_ns) & (found.end_ns <= window.end_ns))


def _spans(process: ProcessData, found: FoundSteps, to_unix: int) -> tuple[Ints, Ints, Ints]:
    """Input and compilation, which the hooks report."""
    spans = phase_spans(process, found)
    kinds = {
        SpanCategory.INPUT: xprof.KIND["wait for input"],
        SpanCategory.COMPILE: xprof.KIND["compile"],
    }
    kept = spans.of(*kinds)
    kind = np.array([kinds[SpanCategory(c)] for c in spans.category[kept].tolist()], np.int64)
    return kind, spans.start_ns[kept] + to_unix, spans.end_ns[kept] + to_unix
