"""What trials of the zoo's scripts are worth: kept where they should be, and how well predicted."""

import math
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from benchmarks.machine import sentence
from benchmarks.ratios import in_brackets
from benchmarks.zoo.measure import Gain
from benchmarks.zoo.results import markdown, share_of, yes_or_no
from benchmarks.zoo.specimens import HELD_OUT, KNOWN, Specimen
from stepscope.model.trial import Rung, TrialAnswer
from stepscope.trial import fixes

CLOSE = math.log(1.15)  # how far the gains of a fix and of the script's own switch may differ
HEADER = [
    "script", "fault", "fix", "status", "measured", "switch", "within 15 %", "predicted",
    "predicted / measured", "inside", "high / low", "losses",
]  # fmt: skip


class Tried(msgspec.Struct, frozen=True):
    """One script: its trial, and what there is to hold against it."""

    specimen: Specimen
    machine: dict[str, Any]
    answer: TrialAnswer
    gain: Gain | None = None  # of its own switch; None: no fix for its fault was measured
    control: TrialAnswer | None = None  # of a healthy one, with a fix that changes nothing

    @property
    def is_healthy(self) -> bool:
        return self.specimen.id is None

    @property
    def rung(self) -> Rung | None:
        """Of the known fault; the one that was kept, if several are."""
        rungs = [each for each in self.answer.rungs if each.finding in self.specimen.ids]
        kept = [each for each in rungs if each.status == "kept"]
        return next(iter(kept or rungs), None)

    @property
    def is_found(self) -> bool:
        return self.rung is not None

    @property
    def has_fix(self) -> bool:
        return self.rung is not None and self.rung.fix is not None

    @property
    def is_ceiling(self) -> bool:
        rung = self.rung
        return rung is not None and rung.fix is not None and fixes.named(rung.fix).is_ceiling

    @property
    def is_kept(self) -> bool | None:
        """None if there is no fix that could be."""
        if self.rung is None or not self.has_fix or self.is_ceiling:
            return None
        return self.rung.status == "kept"

    @property
    def speedup(self) -> float | None:
        return self.rung.speedup if self.rung else None

    @property
    def is_close(self) -> bool | None:
        """Whether the fix gains what the switch gains; a ceiling may gain more."""
        if self.speedup is None or self.gain is None or self.is_ceiling:
            return None
        return abs(math.log(self.speedup / self.gain.ratio)) <= CLOSE

    @property
    def ratio(self) -> float | None:
        """Predicted to measured."""
        if self.rung is None or self.rung.predicted is None or self.speedup is None:
            return None
        return self.rung.predicted.expected / self.speedup

    @property
    def is_inside(self) -> bool | None:
        """Whether the measured gain is in the predicted range."""
        if self.rung is None or self.rung.predicted is None or self.speedup is None:
            return None
        predicted = self.rung.predicted
        high: float | None = predicted.high
        return predicted.low <= self.speedup and (high is None or self.speedup <= high)

    @property
    def width(self) -> float | None:
        """Of the predicted range: its upper end to its lower one; infinite without an upper one."""
        if self.rung is None or self.rung.predicted is None or self.speedup is None:
            return None
        high: float | None = self.rung.predicted.high
        return math.inf if high is None else high / self.rung.predicted.low

    @property
    def losses_hold(self) -> bool | None:
        """Whether they do what the fix promises; None if nothing can be said about them."""
        loss = self.rung.loss if self.rung else None
        return None if loss is None or loss.how == "unknown" else loss.as_promised


# --- the table ------------------------------------------------------------------------------------


def cells(row: Tried) -> list[str]:
    rung = row.rung
    return [
        row.specimen.name,
        row.specimen.id or "healthy",
        (rung.fix if rung else None) or "–",
        _status(row),
        in_brackets(row.speedup, rung.low, rung.high) if rung else "–",
        in_brackets(row.gain.ratio, row.gain.low, row.gain.high) if row.gain else "–",
        yes_or_no(row.is_close),
        _predicted(rung),
        f"{row.ratio:.2f}" if row.ratio else "–",
        yes_or_no(row.is_inside),
        f"{row.width:.2f}" if row.width else "–",
        rung.loss.how if rung and rung.loss else "–",
    ]


def _status(row: Tried) -> str:
    if row.is_healthy:
        return _of_healthy(row)
    if row.rung is None:
        return "**not found**"
    if row.is_ceiling and row.speedup is not None:
        return "ceiling"
    if row.rung.status == "kept" or not row.has_fix:
        return row.rung.status
    return f"**{row.rung.status}**: {row.rung.reason}"


def _of_healthy(row: Tried) -> str:
    kept = f"{len(_kept(row.answer))} kept of {len(row.answer.rungs)}"
    changed = [rung.status for rung in row.control.rungs] if row.control else []
    return f"{kept}; changing nothing: {changed[0]}" if changed else kept


def _predicted(rung: Rung | None) -> str:
    if rung is None or rung.predicted is None or rung.speedup is None:
        return "–"
    return in_brackets(rung.predicted.expected, rung.predicted.low, rung.predicted.high)


# --- the scores -----------------------------------------------------------------------------------


def scores(rows: Sequence[Tried]) -> dict[str, str]:
    faulty = [row for row in rows if not row.is_healthy]
    healthy = [row for row in rows if row.is_healthy]
    ceilings = sum(row.is_ceiling and row.speedup is not None for row in faulty)
    ratios = [row.ratio for row in faulty if row.ratio is not None]
    errors = [abs(math.log(ratio)) for ratio in ratios]
    widths = [row.width for row in faulty if row.width is not None]
    return {
        "the known fault is found": _share(faulty, "is_found"),
        "its finding names a fix": _share(faulty, "has_fix"),
        "of these only a ceiling, which is never kept": f"{ceilings}",
        "the others are kept": _share(faulty, "is_kept"),
        "measured gain within 15 % of the switch's": _share(faulty, "is_close"),
        "predicted / measured, median": f"{_median(ratios)}, of {len(ratios)}",
        "median |log(predicted / measured)|": _median(errors),
        "measured gain inside the predicted range": _share(faulty, "is_inside"),
        "width of that range, high / low, median": _median(widths),
        "losses as the fix promises": _share(faulty, "losses_hold"),
        "healthy scripts: rungs kept": _kept_share([row.answer for row in healthy]),
        "healthy scripts: a fix that changes nothing is kept": _kept_share(
            [row.control for row in healthy if row.control is not None]
        ),
    }


def _share(rows: Sequence[Tried], name: str) -> str:
    return share_of(rows, lambda row: getattr(row, name))


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f}" if values else "–"


def _kept_share(answers: Sequence[TrialAnswer]) -> str:
    """At most 5 % may be: a kept rung in a healthy script is one too many."""
    kept = sum(len(_kept(answer)) for answer in answers)
    rungs = sum(len(answer.rungs) for answer in answers)
    return f"{kept} of {rungs}" + (f" ({kept / rungs:.0%})" if rungs else "")


def _kept(answer: TrialAnswer) -> list[Rung]:
    return [rung for rung in answer.rungs if rung.status == "kept"]


# --- the page -------------------------------------------------------------------------------------


def side_by_side(known: Sequence[Tried], held_out: Sequence[Tried]) -> str:
    other = scores(held_out)
    lines = ([name, score, other[name]] for name, score in scores(known).items())
    return markdown(["score", f"`{KNOWN}/`", f"`{HELD_OUT}/`"], lines)


class Skipped(NamedTuple):
    """Scripts that are not in the table, by name."""

    without_framework: Sequence[str] = ()
    not_yet: Sequence[str] = ()  # of the known ones

    def __str__(self) -> str:
        reasons = (
            ("Not run, because they could not be imported here", self.without_framework),
            ("Not tried yet", [each for each in self.not_yet if each not in self[0]]),
        )
        return "".join(f"{why}: {', '.join(names)}.\n\n" for why, names in reasons if names)


_NONE = Skipped()


def page(known: Sequence[Tried], held_out: Sequence[Tried], skipped: Skipped = _NONE) -> str:
    """benchmarks/zoo/try.md"""
    return f"""# What `stepscope try` makes of scripts whose fault is known

Made by `make zoo-try`; do not edit. Each script has one fault, and a switch `--fixed` that removes
it. "Measured" is what the fix for that fault gains when it is applied from outside, in the trial's
own rounds; "switch" is what `--fixed` gains in recorded runs, in turns with those without it: the
ratio of the quietest runs, and in brackets the least and the greatest of a round. Both are without
what other programs took of a step where the machine was busy. "Predicted" is
what the finding promised before the fix was tried. A ceiling shows what the best possible fix would
gain, and is never kept. In healthy scripts nothing should be kept: neither what `stepscope try`
finds, nor a fix that changes nothing. Of the scripts in `{HELD_OUT}/`, which are not looked at
while fixes are made, there are only the totals.

{where(known, held_out)}{side_by_side(known, held_out)}

{skipped}{one_by_one(known)}"""


def one_by_one(known: Sequence[Tried]) -> str:
    return f"## `{KNOWN}/`\n\n{markdown(HEADER, map(cells, known))}\n" if known else ""


def where(known: Sequence[Tried], held_out: Sequence[Tried]) -> str:
    """The machine of the first script, and when the last one ran: a trial of all takes hours."""
    about = sorted((row.machine for row in (*known, *held_out)), key=lambda each: each["date"])
    if not about:
        return ""
    until = f"to {about[-1]['date']}; " if about[-1]["date"] != about[0]["date"] else ""
    return f"{until}{sentence(about[0])}\n\n"
