"""What `show ranks` answers for traces, one per rank.

1. The steps are those that the traces mark. Communication is the time in them in which a collective
   runs and nothing else does on the device; on the host, the time in a collective.
2. Of that, a rank waits from its own arrival at a collective to that of the last rank. The rest is
   transfer.
3. A straggler holds the next-to-last rank up for longer than all other ranks together do.
"""

from typing import Final

import numpy as np

from stepscope.analyze.intervals import overlap_ns, union, without
from stepscope.analyze.ranks.arrivals import arrival_rows
from stepscope.analyze.ranks.bandwidth import collective_rows, group_rows
from stepscope.analyze.ranks.rank_traces import RankTrace, rank_traces
from stepscope.analyze.ranks.traced_collectives import Matched, matched
from stepscope.analyze.run import all_notes
from stepscope.clock import Ints
from stepscope.model.ranks import ArrivalRow, RankRow, RanksAnswer, Straggler, TracedRanks
from stepscope.store.reader import Run

_LEAST_SHARE: Final = 0.05  # of the steps: what a straggler costs at least
_ONE: Final = "There is one trace: of a collective, waiting for others and transfer are one time."
_NONE: Final = "None of the traces can be read, so nothing is known about ranks."
_UNSEEN: Final = (
    "No collective was found in the traces of two ranks, so it is not known which rank waits for "
    "which, and their clocks may differ."
)
_WORDS: Final = {
    "compute": "it computes for longer than the others",
    "input": "it waits for its batches for longer than the others",
    "host": "its host launches work later than the others'",
}


def traced_ranks(run: Run) -> RanksAnswer:
    ranks = rank_traces(run)
    if not ranks:
        return RanksAnswer(ranks=[], straggler=None, skew_ms=None, reason=_NONE,
                           notes=all_notes(run))  # fmt: skip
    met = matched(ranks)
    arrivals = arrival_rows(ranks, met)
    waiting = [_waiting_ns(each, met, row) for row, each in enumerate(ranks)]
    expected = _expected(ranks)
    return RanksAnswer(
        ranks=[
            _row(each, ns, is_known=len(met) > 0) for each, ns in zip(ranks, waiting, strict=True)
        ],
        straggler=_straggler(ranks, met, arrivals),
        skew_ms=_skew_ms(waiting) if len(met) else None,
        expected=expected,
        notes=[*_said(ranks, met), *_missing(ranks, expected), *all_notes(run)],
        traced=TracedRanks(
            arrivals=arrivals, collectives=collective_rows(ranks, met), groups=group_rows(ranks),
            matched=len(met), imbalance=_imbalance(ranks),
        ) if any(len(each.calls) for each in ranks) else None,
    )  # fmt: skip


def _in_steps(each: RankTrace, stretches: tuple[Ints, Ints]) -> Ints:
    """How much of a union lies in each step."""
    return overlap_ns(*each.steps, stretches)


def _waiting_ns(each: RankTrace, met: Matched, row: int) -> Ints:
    """In each step, of the communication that nothing hides."""
    there = met.is_there[row]
    begun = each.calls.start_ns[met.place[row, there]]
    waits = union(begun, begun + met.waited_ns[row, there])
    return _in_steps(each, each.exposed) - _in_steps(each, without(each.exposed, waits))


def _row(each: RankTrace, waiting_ns: Ints, *, is_known: bool) -> RankRow:
    starts, ends = each.steps
    step_ms, communication_ms = _mean_ms(ends - starts), _mean_ms(_in_steps(each, each.exposed))
    waiting_ms = _mean_ms(waiting_ns) if is_known else None
    info = each.process.info
    return RankRow(
        rank=each.number, host=info.host, pid=info.pid, steps=len(each.marked[0]), step_ms=step_ms,
        own_ms=step_ms - communication_ms, communication_ms=communication_ms,
        waiting_ms=waiting_ms, input_ms=_mean_ms(_in_steps(each, each.fetches)),
        status=info.status, transfer_ms=communication_ms - (waiting_ms or 0.0),
    )  # fmt: skip


def _mean_ms(ns: Ints) -> float:
    return float(ns.mean()) / 1e6


def _skew_ms(waiting: list[Ints]) -> float:
    count = min(map(len, waiting))
    return _mean_ms(np.max([each[:count] for each in waiting], axis=0))


def _straggler(
    ranks: list[RankTrace], met: Matched, arrivals: list[ArrivalRow]
) -> Straggler | None:
    if not arrivals:
        return None
    worst = max(arrivals, key=lambda row: row.held_ms)
    others_ms = sum(row.held_ms for row in arrivals if row is not worst)
    steps_ms = float(np.mean([(each.steps[1] - each.steps[0]).sum() for each in ranks])) / 1e6
    if worst.why is None or worst.held_ms <= max(others_ms, _LEAST_SHARE * steps_ms):
        return None
    number = next(row for row, each in enumerate(ranks) if each.number == worst.rank)
    taken = int(met.is_there[number].sum())
    why = f"it comes last to {worst.last:,} of {taken:,} collectives, because {_WORDS[worst.why]}"
    steps = min(len(each.steps[0]) for each in ranks)
    return Straggler(rank=worst.rank, why=why, location=None, cost_ms=worst.held_ms / steps)


def _imbalance(ranks: list[RankTrace]) -> float | None:
    if len(ranks) < 2:
        return None
    computed = [float((end - start).sum()) for start, end in (each.compute for each in ranks)]
    return max(computed) / max(1.0, float(np.mean(computed)))


# --- notes ----------------------------------------------------------------------------------------


def _said(ranks: list[RankTrace], met: Matched) -> list[str]:
    if len(ranks) == 1:
        return [_ONE] if len(ranks[0].calls) else []
    if not (len(met) or met.apart or met.left_out):
        return [_UNSEEN]
    notes = []
    if met.apart:
        what = "1 collective" if met.apart == 1 else f"{met.apart:,} collectives"
        compared = "it is not compared" if met.apart == 1 else "they are not compared"
        notes.append(f"{what} ended on one rank before another had begun, so {compared}: events "
                     "are missing from the traces.")  # fmt: skip
    if met.left_out:
        kinds = ", ".join(met.left_out[:3]) + (", …" if len(met.left_out) > 3 else "")
        notes.append("In some steps, the ranks do not have the same number of these collectives, "
                     f"so they are not compared there: {kinds}")  # fmt: skip
    return notes


def _missing(ranks: list[RankTrace], expected: int | None) -> list[str]:
    if len(ranks) < 2 or expected is None or expected <= len(ranks):
        return []
    return [f"These are {len(ranks)} of {expected} ranks: one of the others may be the last."]


def _expected(ranks: list[RankTrace]) -> int | None:
    infos = [each.trace.head.get("distributedInfo") for each in ranks]
    sizes = [info.get("world_size") for info in infos if isinstance(info, dict)]
    return next((size for size in sizes if isinstance(size, int)), None)
