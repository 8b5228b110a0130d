"""What `show ranks` answers for traces of devices, one file per rank."""

from typing import Final

import numpy as np

from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.ranks.arrivals import arrival_rows, compute_of, fetches_of
from stepscope.analyze.ranks.bandwidth import collective_rows, group_rows
from stepscope.analyze.ranks.traced_collectives import Matched, RankTrace, matched, rank_trace
from stepscope.analyze.run import all_notes
from stepscope.analyze.traces.devices import devices
from stepscope.model.ranks import ArrivalRow, RankRow, RanksAnswer, Straggler, TracedRanks
from stepscope.store.reader import Run

_STEP: Final = "ProfilerStep#"
_LEAST_SHARE: Final = 0.05  # of the time: what a straggler costs at least
_ONE: Final = "There is one trace: of a collective, waiting for others and transfer are one time."
_NONE: Final = "Nothing in this trace says what ran on a device, so nothing is known about ranks."
_WORDS: Final = {
    "compute": "its device computes for longer than the others'",
    "input": "it waits for its batches",
    "host": "its host launches work later than the others'",
}


def device_ranks(run: Run) -> RanksAnswer:
    """A trace that names no rank is numbered by its place."""
    found = devices(run)
    ranks = [
        rank_trace(each.rank if each.rank is not None else place, each.works[0])
        for place, each in enumerate(found)
    ]
    if not ranks:
        return RanksAnswer(ranks=[], straggler=None, skew_ms=None, reason=_NONE,
                           notes=all_notes(run))  # fmt: skip
    met = matched(ranks)
    arrivals = arrival_rows(ranks, met)
    steps = max(1, min(_steps(each) for each in ranks))
    skew_ns = met.start_ns.max(axis=0) - met.start_ns.min(axis=0) if len(arrivals) else None
    return RanksAnswer(
        ranks=[_row(each, met, row) for row, each in enumerate(ranks)],
        straggler=_straggler(ranks, arrivals, steps),
        skew_ms=None if skew_ns is None else float(skew_ns.sum()) / 1e6 / steps,
        notes=[*([_ONE] if len(ranks) == 1 else []), *_left_out(met), *all_notes(run)],
        traced=TracedRanks(
            arrivals=arrivals, collectives=collective_rows(ranks, met), groups=group_rows(ranks),
            matched=len(met) if len(ranks) > 1 else 0, imbalance=_imbalance(ranks),
        ),
    )  # fmt: skip


def _left_out(met: Matched) -> list[str]:
    notes = []
    if met.apart:
        notes.append(f"{met.apart} collectives ended on one rank before another had begun them, so "
                     "they are not compared: events are missing from the traces.")  # fmt: skip
    if not met.left_out:
        return notes
    kinds = ", ".join(met.left_out[:3]) + (", …" if len(met.left_out) > 3 else "")
    return [*notes, f"The ranks do not have the same number of these collectives, so they are not "
            f"compared: {kinds}"]  # fmt: skip


def _steps(each: RankTrace) -> int:
    return sum(name.startswith(_STEP) for name in each.work.trace.names)


def _row(each: RankTrace, met: Matched, row: int) -> RankRow:
    """Communication is what no computation hides."""
    steps = max(1, _steps(each))
    wall_ns = each.work.last_ns - each.work.first_ns
    talking = union(each.events["start_ns"], each.end_ns)
    exposed_ns = int((talking[1] - talking[0]).sum() - overlap_ns(*talking, compute_of(each)).sum())
    waited_ns = int(met.waited_ns[row].sum()) if len(met) and met.place.shape[0] > 1 else None
    if waited_ns is not None:
        waited_ns = min(waited_ns, exposed_ns)
    fetches = fetches_of(each)
    return RankRow(
        rank=each.rank, host="", pid=0, steps=_steps(each), step_ms=wall_ns / steps / 1e6,
        own_ms=(wall_ns - exposed_ns) / steps / 1e6, communication_ms=exposed_ns / steps / 1e6,
        waiting_ms=None if waited_ns is None else waited_ns / steps / 1e6,
        input_ms=float((fetches[1] - fetches[0]).sum()) / steps / 1e6, status="traced",
        transfer_ms=(exposed_ns - (waited_ns or 0)) / steps / 1e6,
    )  # fmt: skip


def _straggler(ranks: list[RankTrace], arrivals: list[ArrivalRow], steps: int) -> Straggler | None:
    """It holds the others up by more than all others together do."""
    if not arrivals:
        return None
    worst = max(arrivals, key=lambda row: row.held_ms)
    others_ms = sum(row.held_ms for row in arrivals if row is not worst)
    wall_ms = float(np.mean([each.work.last_ns - each.work.first_ns for each in ranks])) / 1e6
    if worst.why is None or worst.held_ms <= max(others_ms, _LEAST_SHARE * wall_ms):
        return None
    why = f"it comes last to {worst.last} collectives, because {_WORDS[worst.why]}"
    return Straggler(rank=worst.rank, why=why, location=None, cost_ms=worst.held_ms / steps)


def _imbalance(ranks: list[RankTrace]) -> float | None:
    if len(ranks) < 2:
        return None
    computed = [float((end - start).sum()) for start, end in map(compute_of, ranks)]
    return max(computed) / max(1.0, float(np.mean(computed)))
