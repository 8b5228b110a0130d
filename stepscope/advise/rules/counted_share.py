"""The share of the step that looks stand for, as sure as counted lines make it.

Looks are of the measured steps, up to chance: of 300 looks at a half, two recordings may say 0.44
and 0.56. Lines are timed exactly, but in all steps, warm-up included. So what the lines say counts,
as far as chance allows.
"""

from collections.abc import Iterable
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.code import StepLine
from stepscope.analyze.code.sampled_steps import Look

Line = tuple[str, int]  # file as shown, number
# Of its function's time: what lies outside of the steps may be this line or any other.
_IN_STEPS: Final = 0.9


def counted_share(case: Case, looks: Iterable[Look], lines: set[Line]) -> float:
    """`lines`: those that the looks went through."""
    looks = list(looks)
    share = case.stacks.sure_share(looks)
    counted = _counted(case, share, lines) if share else None
    if counted is None:
        return share
    error = case.stacks.time.error(share)
    return min(max(counted, share - error), share + error)


def _counted(case: Case, share: float, lines: set[Line]) -> float | None:
    """None: not all of them were counted, or some of it was outside of the steps."""
    found = [each for each in case.code.lines if (each.function.file, each.row.line) in lines]
    if not found or len(found) < len(lines) or not all(_is_exact(case, each) for each in found):
        return None
    there = case.stacks.share(
        look
        for look in case.stacks.time.looks
        if any((case.code.shown(frame), frame.line) in lines for frame in look.users)
    )
    return share / there * sum(each.ns for each in found) / case.step_ns if there else None


def _is_exact(case: Case, line: StepLine) -> bool:
    in_steps = line.ns * len(case.steps) / max(1, line.row.ns)
    return not line.row.estimated and in_steps >= _IN_STEPS
