"""Is it faster? The measured steps of two sides, and what made the difference.

1. The speed-up is the ratio of mean steps; of the time of a sample where batch sizes differ.
2. Whether it is more than noise is decided on the steps themselves (`statistics/`). Where the
   machine was busy, on the CPU time of the main thread: what other programs take is not in it.
3. Phases, functions, lines, operators and kernels are matched, each kind summing to the change.
"""

from collections.abc import Sequence
from typing import Final

from stepscope.analyze.phases.without_core import note_without_core
from stepscope.compare.changes import Piece, Pieces, Totals, averaged, matched
from stepscope.compare.code_changes import code_changes
from stepscope.compare.differences import differences, has_other_batch
from stepscope.compare.finding_changes import finding_changes
from stepscope.compare.operator_changes import operator_changes
from stepscope.compare.recording import Recording
from stepscope.compare.side import Side, side_of
from stepscope.compare.statistics.speedup import StepTimes, speedup
from stepscope.compare.verdict import BY_SAMPLE, BY_STEP, Outcome, verdict
from stepscope.model.comparison import Change, ComparisonAnswer, ComparisonsAnswer, Ratio
from stepscope.store.reader import Run

BY_CPU: Final = "CPU time of the main thread"
# Below this share of the wall time the main thread mostly waits, and its CPU time says little.
_MOSTLY_COMPUTES: Final = 0.5


def compare(before: Run, after: Run) -> ComparisonAnswer:
    return _compared(side_of(before), side_of(after))


def compare_all(sides: Sequence[Side]) -> ComparisonsAnswer:
    """Each of them against the first."""
    first, *others = sides
    return ComparisonsAnswer(
        runs=[side.described() for side in sides],
        comparisons=[_compared(first, other) for other in others],
    )


def _compared(before: Side, after: Side) -> ComparisonAnswer:
    by_sample = has_other_batch(before, after)
    wall = _ratio(
        _times(before, by_sample), _times(after, by_sample), BY_SAMPLE if by_sample else BY_STEP
    )
    cpu = _on_cpu_time(before, after, by_sample)
    decides = cpu if cpu is not None and _computes(before) and _computes(after) else None
    totals = Totals(_mean_ns(before, by_sample), _mean_ns(after, by_sample))
    changes = _changes(before, after, totals)
    fewest = min(before.steps, after.steps)
    outcome = Outcome(wall, decides, totals, changes, fewest)
    return ComparisonAnswer(
        speedup=wall.speedup,
        low=wall.low,
        high=wall.high,
        basis=wall.basis,
        significant=outcome.deciding.significant,
        verdict=verdict(outcome),
        runs=[before.described(), after.described()],
        changes=changes,
        cpu=cpu,
        decided_on=outcome.deciding.basis,
        differences=differences(before, after),
        findings=finding_changes(before, after),
        notes=_notes(before, after),
    )


def _notes(before: Side, after: Side) -> list[str]:
    """Of each run, but that its machine was busy: that is among the differences."""
    recordings = (*before.recordings, *after.recordings)
    busy = {note_without_core(each.process, each.found) for each in recordings if each.found}
    notes = dict.fromkeys(note for each in recordings for note in each.answer.notes)
    return [note for note in notes if note not in busy]


def _ratio(before: list[StepTimes], after: list[StepTimes], basis: str) -> Ratio:
    found = speedup(before, after)
    return Ratio(
        speedup=found.expected, low=found.low, high=found.high, basis=basis,
        significant=found.is_significant,
    )  # fmt: skip


def _times(side: Side, by_sample: bool) -> list[StepTimes]:
    return [
        StepTimes(each.duration_ns, each.samples if by_sample else None) for each in side.recordings
    ]


def _cpu_times(side: Side, by_sample: bool) -> list[StepTimes]:
    return [each.cpu_times(each.samples if by_sample else None) for each in side.recordings]


def _mean_ns(side: Side, by_sample: bool) -> float:
    """Of a step; of a sample in it."""
    return side.mean_ns / (side.batch_size or 1.0) if by_sample else side.mean_ns


def _on_cpu_time(before: Side, after: Side, by_sample: bool) -> Ratio | None:
    is_busy = before.is_busy or after.is_busy
    if not is_busy or not before.has_cpu_times or not after.has_cpu_times:
        return None
    return _ratio(_cpu_times(before, by_sample), _cpu_times(after, by_sample), BY_CPU)


def _computes(side: Side) -> bool:
    """A thread that mostly waits is judged by the wall time: its CPU time shows no longer wait."""
    return all(_mostly_computes(each) for each in side.recordings)


def _mostly_computes(recording: Recording) -> bool:
    assert recording.cpu_ns is not None  # known where they are compared
    ready = recording.mean_ns * (1 - (recording.without_core or 0.0))
    return float(recording.cpu_ns.mean()) >= _MOSTLY_COMPUTES * ready


def _changes(before: Side, after: Side, totals: Totals) -> list[Change]:
    return [
        *_phases(before, after, totals),
        *code_changes(before, after, totals),
        *operator_changes(before, after, totals),
    ]


def _phases(before: Side, after: Side, totals: Totals) -> list[Change]:
    """All of them, also those that changed little: they are few."""
    old, new = averaged(before, after, totals, _phase_pieces)
    return matched("phase", old, new, totals, least=0.0)


def _phase_pieces(recording: Recording, mean_ns: float) -> Pieces:
    shares = recording.answer.breakdown or []
    return {each.category: Piece(each.category, each.share * mean_ns) for each in shares}
