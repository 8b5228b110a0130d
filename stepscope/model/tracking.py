"""What an experiment tracker is given about a run."""

from stepscope.model import Record


class Stretch(Record, frozen=True):
    """Some steps in a row."""

    last_step: int  # counted from 1, as in every view
    mean_ms: float
    p90_ms: float
    per_s: float
    samples_per_s: float | None
    shares: dict[str, float]  # category to its part of the steps' time


class Digest(Record, frozen=True):
    """Metrics by their names: over the whole run, and after the steps of each stretch."""

    summary: dict[str, float]
    course: list[tuple[int, dict[str, float]]]
    verdict: str
    findings: str  # Markdown
    report: str | None  # path of the page, where one could be made
