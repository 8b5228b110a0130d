"""Whether two recordings of one script say the same: the first finding, and what it gains."""

import statistics
from pathlib import Path

import msgspec

from benchmarks.zoo.measure import Finding, Findings, findings, record
from benchmarks.zoo.results import markdown, share_of, yes_or_no
from benchmarks.zoo.specimens import Specimen

ALIKE = 1.2  # gains that differ by more are not the same promise
HEADER = ["script", "first", "again", "the same", "gain", "again", "ratio"]


class Twice(msgspec.Struct, frozen=True):
    """One script, recorded twice."""

    specimen: Specimen
    first: Findings
    again: Findings

    @property
    def ids(self) -> tuple[list[str], list[str]]:
        return _ids(self.first), _ids(self.again)

    @property
    def is_same(self) -> bool:
        """The same finding comes first, or none in both."""
        first, again = self.ids
        return first[:1] == again[:1]

    @property
    def is_same_order(self) -> bool:
        """Findings that are in both come in the same order."""
        first, again = self.ids
        return [id for id in first if id in again] == [id for id in again if id in first]

    @property
    def ratio(self) -> float | None:
        """Of the first finding's gains: the larger to the smaller. None if there is none."""
        if not self.first.findings or not self.is_same:
            return None
        one, two = (_gain(found.findings[0]) for found in (self.first, self.again))
        return max(one, two) / min(one, two)

    @property
    def is_alike(self) -> bool | None:
        return None if self.ratio is None else self.ratio <= ALIKE


def _ids(found: Findings) -> list[str]:
    return [each.id for each in found.findings]


def _gain(finding: Finding) -> float:
    return finding.speedup.expected if finding.speedup else 1.0


def recorded_twice(specimen: Specimen, folder: Path) -> Twice:
    """What `folder` already holds is judged again, but not recorded again."""
    runs = [folder / specimen.name, folder / f"{specimen.name}-again"]
    for run in runs:
        if not (run / "run.json").exists():
            record(specimen, run)
    return Twice(specimen, *map(findings, runs))


def cells(row: Twice) -> list[str]:
    found = [each.findings[0] if each.findings else None for each in (row.first, row.again)]
    return [
        row.specimen.name,
        *(each.id if each else "nothing" for each in found),
        yes_or_no(row.is_same and row.is_same_order),
        *(f"{_gain(each):.2f}" if each else "–" for each in found),
        f"{row.ratio:.2f}" if row.ratio else "–",
    ]


def page(rows: list[Twice]) -> str:
    ratios = [row.ratio for row in rows if row.ratio is not None]
    middle = f"{statistics.median(ratios):.2f}" if ratios else "–"
    lines = [
        f"- the same first finding: {share_of(rows, lambda row: row.is_same)}",
        f"- the same order: {share_of(rows, lambda row: row.is_same_order)}",
        f"- gains within {ALIKE} times: {share_of(rows, lambda row: row.is_alike)}",
        f"- ratio of the two gains, median: {middle}",
    ]
    return markdown(HEADER, map(cells, rows)) + "\n\n" + "\n".join(lines)
