"""Whether a fix that no finding names can gain enough to be worth its runs."""

from typing import Final

from stepscope.trial.fixes.fix import Refusal
from stepscope.trial.fixes.subject import Subject

_LEAST_SHARE: Final = 0.02  # of the step: less is hard to tell from noise, in any number of rounds


def too_little(subject: Subject, phase: str, words: str) -> Refusal | None:
    """Where all that the fix could save is this phase, and the phase is short. `words`: what takes
    the time, "waiting for batches". Never if a finding or the user asks for it."""
    if subject.finding is not None or subject.is_named:
        return None
    share = subject.case.phase_ns(phase) / max(1.0, subject.case.step_ns)
    if share >= _LEAST_SHARE:
        return None
    return Refusal(f"{words} takes {100 * share:.1f} % of the step: there is nothing to gain")
