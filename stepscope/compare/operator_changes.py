"""Operators and kernels that changed, from the operator windows or the traces."""

from collections.abc import Callable, Iterable
from typing import Final

from stepscope.analyze.operators.kernels import kernels
from stepscope.analyze.operators.operators import ops
from stepscope.compare.changes import Piece, Pieces, Totals, averaged, matched
from stepscope.compare.recording import Recording
from stepscope.compare.side import Side
from stepscope.model import Location
from stepscope.model.comparison import Change, What
from stepscope.model.ops import OpsWindow

_Pieces = Callable[[Recording, float], Pieces]
_STEP: Final = "ProfilerStep*"  # not an operator: the step itself


def operator_changes(before: Side, after: Side, totals: Totals) -> list[Change]:
    """None of a kind that only one side recorded: all of it would seem to be new or gone."""
    rows: list[Change] = []
    kinds: tuple[tuple[What, _Pieces], ...] = (("op", _operators), ("kernel", _kernels))
    for what, pieces_of in kinds:
        old, new = averaged(before, after, totals, pieces_of)
        if old and new:
            rows += matched(what, old, new, totals)
    return rows


def _operators(recording: Recording, mean_ns: float) -> Pieces:
    """Each operator's own time on the host."""
    found = ops(recording.run)
    rows = [
        (row.name, row.self_cpu_ns, row.location)
        for row in found.ops
        if row.name != _STEP and row.self_cpu_ns > 0
    ]
    return _by_step(recording, rows, found.windows, mean_ns)


def _kernels(recording: Recording, mean_ns: float) -> Pieces:
    found = kernels(recording.run)
    rows = [(row.name, row.total_ns, row.location) for row in found.kernels]
    return _by_step(recording, rows, found.windows, mean_ns)


def _by_step(
    recording: Recording,
    rows: Iterable[tuple[str, int, Location | None]],
    windows: Iterable[OpsWindow],
    mean_ns: float,
) -> Pieces:
    """In a mean step as it takes without a window. `mean_ns` is the step's, or the sample's."""
    factor = _traced_steps(recording, windows) * recording.mean_ns / mean_ns
    found: dict[str, Piece] = {}
    for name, ns, location in rows if factor else ():
        known = found.get(name)
        found[name] = Piece(name, (known.ns if known else 0.0) + ns / factor, location)
    return found


def _traced_steps(recording: Recording, windows: Iterable[OpsWindow]) -> float:
    """How many usual steps the windows' operators make: a window slows its own down."""
    if recording.is_trace:
        return len(recording.each)
    return sum((window.steps or 0) * max(1.0, window.slowdown or 1.0) for window in windows)
