"""The steps: how many, how long, and what each one's time goes to."""

from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.analyze.answers import plugin_categories, xprof_categories
from stepscope.analyze.phases.overhead import overhead
from stepscope.analyze.phases.step_phases import Phases, phases_by_step
from stepscope.analyze.phases.typical_steps import typical_steps
from stepscope.analyze.phases.waiting_in_graphs import ESTIMATED
from stepscope.analyze.phases.without_core import is_shared, note_without_core, without_core
from stepscope.analyze.run import select
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.clock import Ints
from stepscope.model import Bound, Overhead, Rate, Share, Spread, Step, StepsAnswer
from stepscope.model.categories import OUTLIERS
from stepscope.store.reader import ProcessData, Run

_DOMINATES: Final = 0.5  # of the step


def steps(
    run: Run,
    each: bool = False,
    process: int | None = None,
    rank: int | None = None,
    scheme: str = "stepscope",
    most_each: int | None = None,
) -> StepsAnswer:
    """The steps of the main process, or of the one asked for by pid or rank. `scheme`: whose
    categories to use, XProf's or those of torch's TensorBoard plugin; a trace that another tool
    wrote has no others. `most_each`: of long runs, each is the slowest of several, so that there
    are no more than that."""
    chosen = select(run, process, rank)
    if chosen is not None and chosen.trace is not None:
        is_plugins = scheme == "tensorboard"
        answer = (plugin_categories.of_trace if is_plugins else xprof_categories.of_trace)(chosen)
    elif scheme == "tensorboard":
        answer = plugin_categories.of_run(run, chosen)
    else:
        wanted = each or scheme == "xprof"
        answer = _of_process(run, chosen, each=wanted, most_each=most_each)
        if scheme == "xprof" and chosen is not None and answer.steps:
            answer = xprof_categories.in_xprof_scheme(run, chosen, answer)
    return answer if each else msgspec.structs.replace(answer, each=msgspec.UNSET)


def _of_process(
    run: Run, chosen: ProcessData | None, *, each: bool, most_each: int | None
) -> StepsAnswer:
    found = find_steps(run, chosen)
    if chosen is None:
        return no_steps(f"No steps found: {found.reason}", None)
    cost = overhead(run, chosen, found)
    if not len(found):
        return no_steps(f"No steps found: {found.reason}", cost)
    answer = _answer(chosen, found, cost)
    if not each:
        return answer
    shown = _slowest_of_several(found.duration_ns, most_each or len(found))
    return msgspec.structs.replace(answer, each=_each(chosen, found, shown))


def no_steps(reason: str, cost: Overhead | None) -> StepsAnswer:
    return StepsAnswer(
        steps=0, warmup=None, measured=None, step_ms=None, rate=None, breakdown=None, bound=None,
        overhead=cost, reason=reason,
    )  # fmt: skip


def _answer(process: ProcessData, found: FoundSteps, cost: Overhead | None) -> StepsAnswer:
    measured = found.is_measured
    phases = phases_by_step(process, found)
    usual = typical_steps(process, found).phases
    durations = found.duration_ns[measured]
    breakdown = _breakdown(usual, durations, found) if measured.any() else None
    return StepsAnswer(
        steps=len(found),
        warmup=found.warmup,
        measured=int(measured.sum()),
        step_ms=_spread(durations) if measured.any() else None,
        rate=_rate(durations, found) if measured.any() else None,
        breakdown=breakdown,
        bound=_bound(breakdown) if breakdown else None,
        overhead=cost,
        reason=None if measured.any() else "All steps are warm-up or incomplete.",
        anchor=found.anchor,
        notes=[
            *([ESTIMATED] if phases.is_estimated.any() else []),
            *filter(None, [found.one_offs(process), note_without_core(process, found)]),
        ],
        without_core=without_core(process, found) if is_shared(process, found) else None,
    )


def _spread(durations_ns: Ints) -> Spread:
    ms = durations_ns / 1e6
    p10, median, p90 = (float(value) for value in np.percentile(ms, [10, 50, 90]))
    return Spread(mean=float(ms.mean()), median=median, p10=p10, p90=p90)


def _rate(durations_ns: Ints, found: FoundSteps) -> Rate:
    seconds = max(1, int(durations_ns.sum())) / 1e9
    total = int(found.samples[found.is_measured].sum())
    return Rate(
        per_s=len(durations_ns) / seconds,
        samples_per_s=total / seconds if total else None,
        samples_are=found.samples_are if total else None,
    )


def _breakdown(phases: Phases, durations_ns: Ints, found: FoundSteps) -> list[Share]:
    """Of a typical step, with what slow ones cost above it. Largest first; the ms sum to the mean
    step."""
    measured = found.is_measured
    mean_ms = max(float(durations_ns.mean()) / 1e6, 1e-9)
    shares = [
        _share(name, phases.ns[measured, index], mean_ms) for index, name in enumerate(phases.names)
    ]
    return sorted(shares, key=lambda share: -share.ms)


def _share(name: str, ns: Ints, mean_ms: float) -> Share:
    ms = float(ns.mean()) / 1e6
    return Share(
        category=name, share=ms / mean_ms, ms=ms, device_ms=None, steps=int((ns > 0).sum())
    )


def _bound(breakdown: list[Share]) -> Bound:
    """What a typical step waits for; the device is known only if operators were recorded."""
    shares = {share.category: share.share for share in breakdown}
    dominates = _DOMINATES * (1 - shares.get(OUTLIERS, 0.0))
    if shares.get("input", 0.0) >= dominates:
        return "input"
    if shares.get("communication", 0.0) >= dominates:
        return "communication"
    return "host"


def _slowest_of_several(duration_ns: Ints, most: int) -> npt.NDArray[np.intp]:
    """Indices in order: all, or the slowest of every so many."""
    if len(duration_ns) <= most:
        return np.arange(len(duration_ns))
    edges = np.arange(most) * len(duration_ns) // most
    parts = zip(edges.tolist(), [*edges[1:].tolist(), len(duration_ns)], strict=True)
    return np.array([low + int(duration_ns[low:high].argmax()) for low, high in parts])


def _each(process: ProcessData, found: FoundSteps, shown: npt.NDArray[np.intp]) -> list[Step]:
    phases = phases_by_step(process, found)
    columns = zip(
        (found.start_ns[shown] - process.start_ns).tolist(),
        found.duration_ns[shown].tolist(),
        phases.ns[shown].tolist(),
        found.is_measured[shown].tolist(),
        phases.is_estimated[shown].tolist(),
        (shown + 1).tolist(),
        strict=True,
    )
    return [
        Step(
            start_ns=start,
            duration_ns=duration,
            phases=dict(zip(phases.names, ns, strict=True)),
            measured=measured,
            estimated=estimated,
            number=number,
        )
        for start, duration, ns, measured, estimated, number in columns
    ]
