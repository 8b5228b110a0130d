"""A run in one sentence, and what most of each step is."""

from typing import Final, Literal

from stepscope.analyze.code.hottest_lines import summary_lines
from stepscope.model import Location, Record, StepsAnswer, SummaryAnswer
from stepscope.model.categories import CATEGORY_WORDS, OUTLIERS
from stepscope.model.findings import FindingsAnswer
from stepscope.model.rare import goes_on, of_steps

_MUCH: Final = 0.25  # of the run
_MOST: Final = 0.5  # of the step
_BOUND_WORDS: Final = {
    "device": "work on the device",
    "input": CATEGORY_WORDS["input"],
    "communication": CATEGORY_WORDS["communication"],
}


class Headline(Record, frozen=True):
    """The words; if a line follows them, also its place and its text."""

    about: Literal["findings", "line", "steps"]
    words: str
    location: Location | None = None
    source: str = ""

    @property
    def sentence(self) -> str:
        """In one line of plain text."""
        at = self.location
        place = f"{at.file.rpartition('/')[2]}:{at.line}" if at else ""
        return " ".join(f"{self.words} {place} {self.source}".split())


def headline(summary: SummaryAnswer, advice: FindingsAnswer | None) -> Headline:
    """What to change; else the one line that takes much of the run; else what is known about
    the steps."""
    if advice is not None and (advice.findings or summary.steps.measured):
        return Headline(about="findings", words=advice.verdict)
    line = _one_line(summary)
    if line is not None:
        return line
    words = advice.verdict if advice is not None else most_of_each_step(summary.steps)
    return Headline(about="steps", words=words)


def _one_line(summary: SummaryAnswer) -> Headline | None:
    lines, run_ns = summary_lines(summary), summary.wall_ns
    # More than the whole run is a sum over threads: a share of that would only confuse.
    if not lines or not _MUCH * run_ns <= lines[0].ns <= run_ns:
        return None
    return Headline(
        about="line",
        words=f"{100 * lines[0].ns / run_ns:.1f} % of the run is one line:",
        location=lines[0].location,
        source=(lines[0].source or "").strip(),
    )


def most_of_each_step(answer: StepsAnswer) -> str:
    """What the largest part of a typical step is, in words."""
    if not answer.breakdown:
        return answer.reason or "Nothing stands out in this run."
    parts = [share for share in answer.breakdown if share.category != OUTLIERS]
    largest = max(parts, key=lambda share: share.share)
    whole = 1 - sum(share.share for share in answer.breakdown if share.category == OUTLIERS)
    words = CATEGORY_WORDS.get(largest.category, largest.category)
    if answer.bound in _BOUND_WORDS:
        words = _BOUND_WORDS[answer.bound]
    of = of_steps(largest.steps, answer.measured)
    if answer.bound not in _BOUND_WORDS and largest.share < _MOST * whole:
        return f"The largest part of {goes_on(of)} goes to {words}"
    return f"Most of {goes_on(of)} goes to {words}"
