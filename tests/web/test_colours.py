"""Colours that can be told apart with any colour vision: by computation, and on the page."""

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from build import run_of_steps
from stepscope.analyze.answers import run_parts
from stepscope.analyze.run import load
from stepscope.analyze.traces import xprof_steps
from stepscope.cli.report import write_page
from stepscope.model.categories import CATEGORY_WORDS
from stepscope.model.phase_colours import (
    PART_COLOURS,
    PHASE_COLOURS,
    RANK_COLOURS,
    XPROF_COLOURS,
)
from stepscope.model.ranks import RankRow, RanksAnswer
from stepscope.show.exporters.html import export
from stepscope.show.report.content import content
from two_runs import trained
from web.conftest import Opener, go

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Floats = npt.NDArray[np.float64]

# Machado, Oliveira and Fernandes (2009), of full severity, for linear RGB.
VISIONS: Final = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]
    ),
}  # fmt: skip
# Ottosson's OKLab, in which a distance of 0.02 is just seen.
CONES: Final = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
LAB: Final = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip
LEAST: Final = 0.07  # between two of one chart
LEAST_BETWEEN_CHARTS: Final = 0.02
NAMES: Final = """all => all.map((each) => [each.parentElement.textContent.trim().split(',')[0],
    getComputedStyle(each).backgroundColor])"""

OF_RANKS_ONLY: Final = ("own work", "waiting for others")
BARS: Final = "all => all.map((each) => [each.title, getComputedStyle(each).backgroundColor])"
MANY_POINTS: Final = 40
PAINTED: Final = f"""(canvas) => {{
    const found = new Map();
    const {{ data }} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) {{
        const hex = (each) => each.toString(16).padStart(2, '0');
        const colour = '#' + hex(data[at]) + hex(data[at + 1]) + hex(data[at + 2]);
        found.set(colour, (found.get(colour) ?? 0) + 1);
    }}
    return [...found].filter(([, points]) => points > {MANY_POINTS}).map(([colour]) => colour);
}}"""


def linear(colour: str) -> Floats:
    value = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def seen(colour: str, vision: str) -> Floats:
    shown = np.clip(VISIONS[vision] @ linear(colour), 0, 1)
    found: Floats = LAB @ np.cbrt(CONES @ shown)
    return found


def distance(one: str, other: str, vision: str) -> float:
    return float(np.linalg.norm(seen(one, vision) - seen(other, vision)))


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(
    "table",
    [PHASE_COLOURS, PART_COLOURS, XPROF_COLOURS, RANK_COLOURS],
    ids=["phases", "parts", "XProf's", "a rank's"],
)
def test_no_two_colours_of_a_chart_look_alike(table: dict[str, str], vision: str) -> None:
    alike = [
        (one, other)
        for one, other in itertools.combinations(table, 2)
        if distance(table[one], table[other], vision) < LEAST
    ]
    assert alike == []


@pytest.mark.parametrize("vision", VISIONS)
def test_what_is_no_phase_has_no_colour_of_a_phase(vision: str) -> None:
    others = PART_COLOURS | {name: RANK_COLOURS[name] for name in OF_RANKS_ONLY}
    pairs = itertools.product(PHASE_COLOURS.items(), others.items())
    assert [
        (phase, part)
        for (phase, one), (part, other) in pairs
        if distance(one, other, vision) < LEAST_BETWEEN_CHARTS
    ] == []


def test_every_phase_has_a_colour() -> None:
    assert set(PHASE_COLOURS) == set(CATEGORY_WORDS)
    assert set(XPROF_COLOURS) == set(xprof_steps.CATEGORIES)
    assert set(PART_COLOURS) == set(run_parts.CATEGORIES)
    assert {RANK_COLOURS[name] for name in set(RANK_COLOURS) - set(OF_RANKS_ONLY)} == {
        PHASE_COLOURS["input"], PHASE_COLOURS["communication"]
    }  # fmt: skip


def swatches(page: "Page") -> dict[str, set[str]]:
    """The colours beside each name on the page."""
    found: dict[str, set[str]] = {}
    for name, colour in page.locator("#main i.swatch").evaluate_all(NAMES):
        found.setdefault(name, set()).add(colour)
    return found


def as_hex(colour: str) -> str:
    return "#" + "".join(f"{int(each):02x}" for each in re.findall(r"\d+", colour)[:3])


def test_a_phase_has_the_same_colour_on_every_page(open_report: Opener) -> None:
    page = open_report("training", "steps?step=6")
    on_steps = swatches(page)
    known = {name: each for name, each in on_steps.items() if name in PHASE_COLOURS}
    assert known
    for name, colours in known.items():
        assert {as_hex(colour) for colour in colours} == {PHASE_COLOURS[name]}
    go(page, "overview")
    parts = page.locator(".panel", has=page.get_by_role("heading", name="The whole run"))
    shown = parts.locator("i.swatch").evaluate_all(NAMES)
    assert shown
    assert [name for name, colour in shown if as_hex(colour) != PART_COLOURS[name]] == []


def painted(page: "Page", canvas: str) -> set[str]:
    """The colours of which a canvas has more than a few points."""
    found: list[str] = page.locator(canvas).first.evaluate(PAINTED)
    return set(found)


def test_charts_are_drawn_in_the_colours_of_their_legends(
    browser: "Browser", tmp_path: Path
) -> None:
    """Of each step, 15 ms are input, and 5 Python."""
    path = tmp_path / "report.html"
    path.write_bytes(export(trained(tmp_path / "run", input_ms=15, rest_ms=5)))
    page = browser.new_page()
    page.goto(f"{path.as_uri()}#/steps")
    page.locator(".chart canvas").first.wait_for()
    go(page, "steps")
    both = {PHASE_COLOURS["input"], PHASE_COLOURS["python"]}
    legend = {as_hex(colour) for colours in swatches(page).values() for colour in colours}
    assert both <= legend & painted(page, ".chart canvas")
    go(page, "timeline?from=0&to=100000000")
    assert PHASE_COLOURS["input"] in painted(page, ".timeline canvas")
    page.close()


def test_a_ranks_step_has_the_colours_of_its_legend(browser: "Browser", tmp_path: Path) -> None:
    row = RankRow(
        rank=0, host="here", pid=1, steps=9, step_ms=10.0, own_ms=6.0, communication_ms=4.0,
        waiting_ms=3.0, input_ms=2.0, status="ended", transfer_ms=1.0,
    )  # fmt: skip
    answer = RanksAnswer(ranks=[row, row], straggler=None, skew_ms=3.0, reason=None, notes=[])
    made = content(load(run_of_steps(tmp_path / "run", 20)))
    path = tmp_path / "report.html"
    write_page(str(path), msgspec.structs.replace(made, ranks=answer))
    page = browser.new_page()
    page.goto(f"{path.as_uri()}#/ranks")
    page.locator(".rank-bar").first.wait_for()
    legend = page.locator(".legend").first.locator("i.swatch").evaluate_all(NAMES)
    assert {name: as_hex(colour) for name, colour in legend} == RANK_COLOURS
    bars = page.locator(".rank-bar").first.locator("span").evaluate_all(BARS)
    assert {name.partition(":")[0]: as_hex(colour) for name, colour in bars} == RANK_COLOURS
    page.close()
