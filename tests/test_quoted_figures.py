"""Figures that pages quote are those of the benchmarks' own pages."""

import functools
import math
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PEERS = ROOT / "docs" / "peers.md"
LIMITS = ROOT / "docs" / "limits.md"
COST = ROOT / "benchmarks" / "results.md"
ZOO = ROOT / "benchmarks" / "zoo" / "results.md"
BLIND = ROOT / "benchmarks" / "zoo" / "blind.md"
PYTHONS = ("3.11", "3.12", "3.13")
FIRST_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def rows_of(text: str) -> list[list[str]]:
    """The cells of all lines of tables."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def words_of(page: Path) -> str:
    return " ".join(page.read_text().split())


@functools.cache
def cost_of(python: str) -> str:
    """The part of the page on cost that one Python measured."""
    parts = re.split(r"^## Python ", COST.read_text(), flags=re.MULTILINE)
    (part,) = [each for each in parts if each.startswith(f"{python}.")]
    return part


def peers_table(python: str, clock: str) -> dict[str, dict[str, str]]:
    """By program and tool: of the whole processes, which all peers are compared in."""
    tables: dict[str, dict[str, str]] = {}
    header: list[str] = []
    for name, *cells in rows_of(cost_of(python)):
        if name in ("wall time", "CPU time", "what it must show"):
            header = cells if name == clock and "cProfile" in cells and len(cells) > 3 else []
        elif header and not name.startswith("---"):
            tables[name] = dict(zip(header, cells, strict=True))
    return tables


def promised(python: str, what: str) -> tuple[float, float]:
    """Wall and CPU time of a row of the table on what must be shown."""
    (row,) = [cells for cells in rows_of(cost_of(python)) if cells[0].startswith(what)]
    return float(row[2].split()[0]), float(row[3].split()[0])


def assert_rounded(quoted: str, measured: str, what: str) -> None:
    if "–" in (quoted, measured):
        assert quoted == measured, what
        return
    number = FIRST_NUMBER.match(measured)
    assert number is not None
    digits = len(quoted.partition(".")[2])
    assert abs(float(quoted) - float(number[0])) <= 0.501 * 10**-digits, f"{what}: {measured}"


def quoted_tables() -> list[tuple[Path, str, str, list[str], list[str]]]:
    """Page, Python, clock, tools and row of each line of the tables in README and on the peers."""
    found = []
    for page, clock in ((README, "CPU time"), (PEERS, "wall time")):
        header: list[str] = []
        for name, *cells in rows_of(page.read_text()):
            if name == "":
                header = cells
            elif header and not name.startswith("---"):
                program, _, python = name.partition(", Python ")
                found.append((page, python or PYTHONS[0], clock, header, [program, *cells]))
            if len(cells) != len(header):
                header = []
    return [row for row in found if "line_profiler" in row[3]]


@pytest.mark.parametrize(
    ("page", "python", "clock", "tools", "row"),
    quoted_tables(),
    ids=lambda value: value.name if isinstance(value, Path) else None,
)
def test_a_table_of_costs_is_that_of_the_benchmarks(
    page: Path, python: str, clock: str, tools: list[str], row: list[str]
) -> None:
    measured = peers_table(python, clock)[row[0]]
    for tool, quoted in zip(tools, row[1:], strict=True):
        assert_rounded(quoted, measured[tool], f"{page.name}, Python {python}, {row[0]}, {tool}")


def test_both_pages_have_such_a_table() -> None:
    pages = [page for page, *_ in quoted_tables()]
    assert (pages.count(README), pages.count(PEERS)) == (8, 6)


def percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):.1f} %"


def test_the_costs_in_the_text_are_those_of_the_benchmarks() -> None:
    lines = [promised(python, "exact lines, tight loop")[1] for python in PYTHONS]
    numpy = [promised(python, "NumPy steps of 3 ms: default")[1] for python in PYTHONS]
    torch = promised("3.11", "PyTorch steps of 3 ms: default")
    jax = promised("3.11", "JAX steps of 5 ms: default")
    said, explained = words_of(README), words_of(ROOT / "docs" / "how-it-works.md")
    assert "add {:.1%}, {:.1%} and {:.1%}".format(*lines).replace("%", " %") in said
    for page in (said, explained):
        assert "costs {}, {} and {} of CPU".format(*map(percent, numpy)) in page
    for page in (said, explained, words_of(PEERS)):
        assert f"PyTorch steps of 3 ms {percent(torch[0])} of wall and {percent(torch[1])}" in page
        assert f"JAX steps of 5 ms {percent(jax[0])} of wall and {percent(jax[1])}" in page


def of_the_zoo(what: str) -> tuple[int, int]:
    found = re.search(rf"^- {what}: (\d+) (?:of|in) (\d+)", ZOO.read_text(), re.MULTILINE)
    assert found is not None, what
    return int(found[1]), int(found[2])


def test_what_the_findings_are_worth_is_said_as_the_zoo_has_it() -> None:
    said = words_of(PEERS)
    first, function = of_the_zoo("right top finding"), of_the_zoo("right function")
    inside, alarms = (
        of_the_zoo("measured gain inside the predicted range"),
        of_the_zoo("false alarms"),
    )
    assert f"the right fault first in {first[0]} of {first[1]}" in said
    assert f"the right function in {function[0]} of {function[1]}" in said
    assert f"{inside[0]} of {inside[1]} measured gains lie in the predicted range" in said
    assert f"{alarms[0]} false alarms in {alarms[1]} healthy" in said


def test_how_far_predictions_miss_is_said_as_the_zoo_has_it() -> None:
    logarithm = re.search(r"^- median \|log.*?: (\d\.\d+)", ZOO.read_text(), re.MULTILINE)
    assert logarithm is not None
    inside, all_of_them = of_the_zoo("measured gain inside the predicted range")
    said = words_of(LIMITS)
    assert f"half are more than {100 * (math.exp(float(logarithm[1])) - 1):.0f} % off" in said
    assert f"{all_of_them - inside} of {all_of_them} measured gains lie outside" in said


def test_the_limits_quote_the_blind_test() -> None:
    scores, quoted = BLIND.read_text(), words_of(LIMITS)
    for name, words in {
        "right top finding: 12 of 14": "12 of the 14 others the right one first",
        "measured gain inside the predicted range: 9 of 11": "9 of 11 gains were inside",
        "false alarms: 0 in 6": "the 6 sound ones had no finding",
    }.items():
        assert f"- {name} " in scores
        assert words in quoted
