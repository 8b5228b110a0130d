"""The rank that the others wait for, and the line in which it loses the time.

1. It holds up the mean step by at least 5 %, and by more than all others together: by so much more
   that it is not chance (three standard errors). Ranks that take turns at being last are not
   stragglers: what the usual rank holds up its step by is no fault of this one.
2. What it does in that time is the phase in which it spends more than the others.
3. Of ranks on one host, one that comes late because another program had its core does not do more
   than the others: that time is taken off. What does more loses its core more often, too: only what
   it lost beyond that counts.
4. The line is the one that costs it more than the same line costs the others, without callees.
"""

import dataclasses
import math
import statistics
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from stepscope.analyze.code.hottest_lines import HotLine, hottest_lines
from stepscope.analyze.code.lines import lines
from stepscope.clock import Ints
from stepscope.model import FunctionLines, LineRow, LinesAnswer
from stepscope.model.durations import duration
from stepscope.model.ranks import Straggler
from stepscope.store.reader import ProcessData, Run

_LEAST_SHARE: Final = 0.05  # of the step
_STANDARD_ERRORS: Final = 3.0
_FEWEST_STEPS: Final = 5
_LEAST_OF_COST: Final = 0.25  # of what it costs: the least that a line must explain
_MOST_OF_COST: Final = 3.0  # more than that was not lost in the steps

_Key = tuple[str, str, int]  # file, function, line


@dataclasses.dataclass(frozen=True, eq=False)
class Held:
    """What it costs the others that a rank comes last."""

    rank: int
    process: ProcessData
    steps: int
    cost_ns: Ints  # by step, for the same measured steps on all ranks
    mean_ms: dict[str, float]  # of its steps, by category
    lost_ns: float  # in the mean step: ready, but without a core
    computed_ns: float  # in the mean step: CPU time, of all its threads

    @property
    def host(self) -> str:
        return self.process.info.host


def straggler(run: Run, held: Sequence[Held]) -> Straggler | None:
    if len(held) < 2 or len(held[0].cost_ns) < _FEWEST_STEPS:
        return None
    worst = max(held, key=lambda each: float(each.cost_ns.mean()))
    others = [each for each in held if each is not worst]
    lost_ns = _lost_more_ns(worst, others)
    usual_ns = statistics.median(float(each.cost_ns.mean()) for each in others)
    cost_ms = max(0.0, float(worst.cost_ns.mean()) - usual_ns - lost_ns) / 1e6
    is_little = cost_ms < _LEAST_SHARE * sum(worst.mean_ms.values())
    if is_little or not _is_more_than_chance(worst, others, lost_ns):
        return None
    line = _slow_line(run, worst, others, cost_ms)
    return Straggler(
        rank=worst.rank,
        why=_why(worst, others, cost_ms),
        location=line.location if line else None,
        cost_ms=cost_ms,
        source=line.source if line else None,
    )


def _lost_more_ns(worst: Held, others: Sequence[Held]) -> float:
    """In the mean step: without a core, beyond the one of the same host that lost least, if it had
    computed as much."""
    beside = [each for each in others if each.host == worst.host]
    if not beside:
        return 0.0
    least = min(beside, key=lambda each: each.lost_ns)
    times = worst.computed_ns / least.computed_ns if least.computed_ns else 1.0
    return max(0.0, worst.lost_ns - max(1.0, times) * least.lost_ns)


def _is_more_than_chance(worst: Held, others: Sequence[Held], lost_ns: float) -> bool:
    net = worst.cost_ns - np.sum([each.cost_ns for each in others], axis=0)
    standard_error = float(net.std(ddof=1)) / math.sqrt(len(net))
    return float(net.mean()) - lost_ns > _STANDARD_ERRORS * standard_error


def _why(worst: Held, others: Sequence[Held], cost_ms: float) -> str:
    why = f"it comes last, and holds up each step by {duration(1e6 * cost_ms)}"
    categories = set(worst.mean_ms) - {"communication"}
    excess = {name: _excess_ms(name, worst, others) for name in categories}
    most = max(excess, key=lambda name: excess[name], default=None)
    if most is None or excess[most] < _LEAST_OF_COST * cost_ms:
        return why
    others_named = "the other" if len(others) == 1 else "the others"
    return f"{why}: in {most} it spends {duration(1e6 * excess[most])} more than {others_named}"


def _excess_ms(category: str, worst: Held, others: Sequence[Held]) -> float:
    usual = statistics.median(each.mean_ms.get(category, 0.0) for each in others)
    return worst.mean_ms.get(category, 0.0) - usual


# --- the line -------------------------------------------------------------------------------------


def _slow_line(run: Run, worst: Held, others: Sequence[Held], cost_ms: float) -> HotLine | None:
    recorded = [each for each in lines(run).functions if each.process.role != "worker"]
    usual = _usual_ns(recorded, others)
    cost_ns = cost_ms * 1e6 * worst.steps
    slower = []
    for function in recorded:
        if function.process == worst.process.process:
            rows = [_slower(row, _ns(function, row, usual) * worst.steps) for row in function.lines]
            rows = [row for row in rows if 0 < row.ns <= _MOST_OF_COST * cost_ns and row.hits > 1]
            slower.append(
                msgspec.structs.replace(function, lines=rows, total_ns=sum(row.ns for row in rows))
            )
    found = hottest_lines(LinesAnswer(functions=slower))
    return found[0] if found and found[0].ns >= _LEAST_OF_COST * cost_ns else None


def _usual_ns(recorded: Sequence[FunctionLines], others: Sequence[Held]) -> dict[_Key, float]:
    """What a line costs the others in a step."""
    steps = {each.process.process: max(1, each.steps) for each in others}
    costs: dict[_Key, list[float]] = {}
    for function in recorded:
        if function.process in steps:
            for row in function.lines:
                key = (function.file, function.function, row.line)
                costs.setdefault(key, []).append(row.ns / steps[function.process])
    absent = {key: [0.0] * (len(others) - len(found)) for key, found in costs.items()}
    return {key: statistics.median(found + absent[key]) for key, found in costs.items()}


def _ns(function: FunctionLines, row: LineRow, usual: dict[_Key, float]) -> float:
    return usual.get((function.file, function.function, row.line), 0.0)


def _slower(row: LineRow, usual_ns: float) -> LineRow:
    return msgspec.structs.replace(row, ns=max(0, row.ns - round(usual_ns)))
