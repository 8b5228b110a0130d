"""Colours that can be told apart with any colour vision: by computation, and on the page."""

import itertools
import re
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pytest

from stepscope.analyze.answers import run_parts
from stepscope.analyze.traces import xprof_steps
from stepscope.model.categories import CATEGORY_WORDS
from stepscope.model.phase_colours import PART_COLOURS, PHASE_COLOURS, XPROF_COLOURS
from web.conftest import Opener, go

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
    "table", [PHASE_COLOURS, PART_COLOURS, XPROF_COLOURS], ids=["phases", "parts", "XProf's"]
)
def test_no_two_colours_of_a_chart_look_alike(table: dict[str, str], vision: str) -> None:
    alike = [
        (one, other)
        for one, other in itertools.combinations(table, 2)
        if distance(table[one], table[other], vision) < LEAST
    ]
    assert alike == []


@pytest.mark.parametrize("vision", VISIONS)
def test_no_part_of_the_run_has_the_colour_of_a_phase(vision: str) -> None:
    pairs = itertools.product(PHASE_COLOURS.items(), PART_COLOURS.items())
    assert [
        (phase, part)
        for (phase, one), (part, other) in pairs
        if distance(one, other, vision) < LEAST_BETWEEN_CHARTS
    ] == []


def test_every_phase_has_a_colour() -> None:
    assert set(PHASE_COLOURS) == set(CATEGORY_WORDS)
    assert set(XPROF_COLOURS) == set(xprof_steps.CATEGORIES)
    assert set(PART_COLOURS) == set(run_parts.CATEGORIES)


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
