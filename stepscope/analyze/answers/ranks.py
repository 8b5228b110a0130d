"""The ranks of a run side by side: their steps, what they wait for, and for which rank."""

import dataclasses
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.analyze.answers.processes import status
from stepscope.analyze.counters import grown
from stepscope.analyze.intervals import step_of
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.analyze.phases.typical_steps import typical_ns
from stepscope.analyze.ranks.collectives import Collectives, collectives
from stepscope.analyze.ranks.exchanges import Exchanges, exchanges
from stepscope.analyze.ranks.straggler import Held, straggler
from stepscope.analyze.ranks.traced_answer import traced_ranks
from stepscope.analyze.run import all_notes, select
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.clock import Ints
from stepscope.model.ranks import RankRow, RanksAnswer
from stepscope.store.reader import ProcessData, Run

_MOST_RANKS: Final = 100_000  # a damaged file may claim more than there can be
_MOST_NAMED: Final = 8  # in a sentence
_NONE: Final = (
    "This run has no ranks: no launcher gave its processes one, and none joined a process group."
)


@dataclasses.dataclass(frozen=True, eq=False)
class _Rank:
    """A rank and what its measured steps consist of."""

    number: int
    process: ProcessData
    steps: FoundSteps
    mean_ms: dict[str, float]  # by category
    waited_ns: Ints  # by step
    sees_collectives: bool

    @property
    def step_ms(self) -> float | None:
        return sum(self.mean_ms.values()) if self.mean_ms else None


def ranks(run: Run, process: int | None = None, rank: int | None = None) -> RanksAnswer:
    """All of them, or the row of the one asked for by pid or rank."""
    if process is not None or rank is not None:
        select(run, process, rank)  # raises if there is none
    if run.is_trace:
        return _only(traced_ranks(run), process, rank)
    chosen = processes_of_ranks(run)
    if not chosen:
        return RanksAnswer(
            ranks=[], straggler=None, skew_ms=None, reason=_NONE, notes=all_notes(run)
        )
    calls, every_rank = _together(run)
    rows = [_row(run, each) for each in every_rank]
    return RanksAnswer(
        ranks=[row for row in rows if process in (None, row.pid) and rank in (None, row.rank)],
        straggler=straggler(run, _held(every_rank, calls)),
        skew_ms=_skew_ms(every_rank),
        expected=_expected(run),
        samples_per_s=_samples_per_s(every_rank),
        notes=[
            *_missing(run, every_rank),
            *_deaths(run, every_rank),
            *_unseen(every_rank),
            *all_notes(run),
        ],
    )


def _only(answer: RanksAnswer, process: int | None, rank: int | None) -> RanksAnswer:
    wanted = [
        row for row in answer.ranks if process in (None, row.pid) and rank in (None, row.rank)
    ]
    return msgspec.structs.replace(answer, ranks=wanted)


def exchanges_of_ranks(run: Run) -> dict[int, Exchanges]:
    """By pid: what exchanging costs those that see each other's collectives."""
    calls, every_rank = _together(run)
    waited_ns = [each.waited_ns for each in every_rank if each.sees_collectives]
    seen = [(row, each) for row, each in enumerate(every_rank) if each.sees_collectives]
    return {
        each.process.info.pid: exchanges(
            calls, row, each.steps, waited_ns, 1e6 * _typical_ms(each, "communication")
        )
        for row, each in seen
    }


def _together(run: Run) -> tuple[Collectives, list["_Rank"]]:
    chosen = processes_of_ranks(run)
    calls = collectives(list(chosen.values()))
    return calls, [_rank(run, calls, row, *each) for row, each in enumerate(chosen.items())]


def processes_of_ranks(run: Run) -> dict[int, ProcessData]:
    """By rank. Of a launch that was restarted, the last attempt."""
    there = [each for each in run.processes if each.info.role != "worker"]
    there.sort(key=lambda each: each.clock.wall_ns(each.start_ns))
    found = {each.info.rank: each for each in there if each.info.rank is not None}
    return dict(sorted(found.items()))


def _rank(run: Run, calls: Collectives, row: int, number: int, process: ProcessData) -> _Rank:
    steps = find_steps(run, process)
    measured = steps.is_measured
    mean_ms: dict[str, float] = {}
    if measured.any():
        phases = phases_by_step(process, steps)
        means = (phases.ns[measured].mean(axis=0) / 1e6).tolist()
        mean_ms = dict(zip(phases.names, means, strict=True))
    waited = np.zeros(len(steps), np.int64)
    step = step_of(calls.arrived_local_ns[row], steps.start_ns, steps.end_ns)
    kept = (step >= 0) & calls.is_there[row]
    np.add.at(waited, step[kept], calls.waited_ns[row][kept])
    return _Rank(number, process, steps, mean_ms, waited, bool(kept.any()))


def _row(run: Run, each: _Rank) -> RankRow:
    info, measured = each.process.info, each.steps.is_measured
    communication, input_ms = (_typical_ms(each, name) for name in ("communication", "input"))
    step_ms = each.step_ms
    is_known = step_ms is not None and each.sees_collectives
    waiting_ms = float(each.waited_ns[measured].mean()) / 1e6 if is_known else None
    if waiting_ms is not None:  # of slow steps, no more than of the others
        waiting_ms = min(waiting_ms, communication)
    return RankRow(
        rank=each.number,
        host=info.host,
        pid=info.pid,
        steps=len(each.steps),
        step_ms=step_ms,
        own_ms=None if step_ms is None else step_ms - communication,
        communication_ms=None if step_ms is None else communication,
        waiting_ms=waiting_ms,
        input_ms=None if step_ms is None else input_ms,
        status=status(run, each.process),
        transfer_ms=None if step_ms is None else max(0.0, communication - (waiting_ms or 0.0)),
    )


def _typical_ms(each: _Rank, phase: str) -> float:
    """As in the breakdown of its steps."""
    if not each.steps.is_measured.any():
        return 0.0
    return float(typical_ns(each.process, each.steps, phase).mean()) / 1e6


def _samples_per_s(every_rank: Sequence[_Rank]) -> float | None:
    total = 0.0
    for each in every_rank:
        measured = each.steps.is_measured
        samples = int(each.steps.samples[measured].sum())
        if not samples:
            return None
        total += samples / (max(1, int(each.steps.duration_ns[measured].sum())) / 1e9)
    return total


def _held(every_rank: Sequence[_Rank], calls: Collectives) -> list[Held]:
    """For each rank, what it costs that it comes last: the longest wait for it."""
    count = min(len(each.steps) for each in every_rank)
    measured = np.all([each.steps.is_measured[:count] for each in every_rank], axis=0)
    last, longest = calls.last, calls.waited_ns.max(axis=0, initial=0)
    held = []
    for row, each in enumerate(every_rank):
        step = step_of(calls.arrived_local_ns[row], each.steps.start_ns, each.steps.end_ns)
        mine = calls.is_there[row] & (last == row) & (step >= 0) & (step < count)
        cost = np.zeros(count, np.int64)
        np.add.at(cost, step[mine], longest[mine])
        window = each.steps.start_ns[:count][measured], each.steps.end_ns[:count][measured]
        memory, cpu = each.process.memory, each.process.cpu
        held.append(
            Held(
                rank=each.number,
                process=each.process,
                steps=len(each.steps),
                cost_ns=cost[measured],
                mean_ms=each.mean_ms,
                lost_ns=_mean_growth(memory.at_ns, memory.run_delay_ns, window),
                computed_ns=_mean_growth(cpu.at_ns, cpu.process_ns, window),
            )
        )
    return held


def _mean_growth(at_ns: Ints, values: npt.NDArray[np.uint64], window: tuple[Ints, Ints]) -> float:
    more = grown(at_ns, values, window)
    return float(more.mean()) if len(more) else 0.0


def _skew_ms(every_rank: Sequence[_Rank]) -> float | None:
    if len(every_rank) < 2 or not any(each.sees_collectives for each in every_rank):
        return None
    count = min(len(each.steps) for each in every_rank)
    measured = np.all([each.steps.is_measured[:count] for each in every_rank], axis=0)
    if not measured.any():
        return None
    longest = np.max([each.waited_ns[:count] for each in every_rank], axis=0)
    return float(longest[measured].mean()) / 1e6


# --- notes ----------------------------------------------------------------------------------------


def _expected(run: Run) -> int | None:
    ranks = (run.info.launcher or {}).get("ranks")
    return ranks if isinstance(ranks, int) else None


def _missing(run: Run, every_rank: Sequence[_Rank]) -> list[str]:
    expected = _expected(run) or 0
    absent = sorted(set(range(min(expected, _MOST_RANKS))) - {each.number for each in every_rank})
    return [f"Nothing was recorded on {_named(absent)}."] if absent else []


def _deaths(run: Run, every_rank: Sequence[_Rank]) -> list[str]:
    """Which rank was killed first: a launcher then ends the others."""
    killed = [each for each in every_rank if status(run, each.process) == "killed"]
    if not killed:
        return []
    killed.sort(key=lambda each: each.process.clock.wall_ns(each.process.end_ns))
    first, others = killed[0], sorted(each.number for each in killed[1:])
    note = f"Rank {first.number} was killed after {len(first.steps)} steps"
    return [note + (f", then {_named(others)}." if others else ".")]


def _unseen(every_rank: Sequence[_Rank]) -> list[str]:
    if len(every_rank) < 2 or any(each.sees_collectives for each in every_rank):
        return []
    return [
        "No collective was seen in the steps of two ranks, so it is not known which rank waits for "
        "which."
    ]


def _named(ranks: Sequence[int]) -> str:
    some = ", ".join(map(str, ranks[:_MOST_NAMED]))
    more = f" and {len(ranks) - _MOST_NAMED} more" if len(ranks) > _MOST_NAMED else ""
    return f"rank {some}" if len(ranks) == 1 else f"ranks {some}{more}"
