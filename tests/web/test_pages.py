"""The report's pages in a real browser: each opens, sorts, filters, and leads to the others."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from web.conftest import PAGES, Opener, go

if TYPE_CHECKING:
    from playwright.sync_api import Page


def column(page: "Page", table: str, title: str) -> list[str]:
    """The texts of a table's column."""
    found = page.get_by_role("table", name=table, exact=True)
    titles = [text.strip("▴▾\n") for text in found.locator("thead th").all_inner_texts()]
    place = titles.index(title) + 1
    return found.locator(f"tbody tr:not(.unfolded) > td:nth-child({place})").all_inner_texts()


def sort_by(page: "Page", table: str, title: str) -> None:
    found = page.get_by_role("table", name=table, exact=True)
    found.locator("thead button", has_text=title).click()


@pytest.mark.parametrize(
    ("report", "width", "scheme"),
    [
        ("training", 1280, "light"), ("training", 1920, "dark"), ("ranks", 1280, "dark"),
        ("hostile", 1280, "light"),
    ],
)  # fmt: skip
def test_every_page_opens_and_fits(
    open_report: Opener, tmp_path: Path, report: str, width: int, scheme: str
) -> None:
    page = open_report(report, width=width, scheme=scheme)
    for where in PAGES:
        go(page, where)
        (tmp_path / f"{where}.png").write_bytes(page.screenshot())
        assert page.locator(".page h1").inner_text()
        wide = "() => document.documentElement.scrollWidth - innerWidth"
        assert page.evaluate(wide) <= 0, f"{where} is wider than the window"
        main = "main => main.scrollWidth - main.clientWidth"
        assert page.locator("#main").evaluate(main) <= 0, f"{where} is wider than its place"


def test_the_overview_shows_the_verdict_and_what_it_rests_on(open_report: Opener) -> None:
    page = open_report("training")
    assert page.locator("h1.verdict").inner_text()
    text = page.locator("#main").inner_text()
    for told in ("mean step", "The whole run", "Every step", "stepscope's own cost", "machine"):
        assert told in text
    assert "12 steps" in text


def test_the_overview_says_what_to_ask_next(open_report: Opener) -> None:
    page = open_report("training")
    panel = page.locator(".panel", has=page.get_by_role("heading", name="Next", exact=True))
    assert "stepscope show" in panel.inner_text()
    assert "findings" in panel.inner_text()


def test_a_hot_line_leads_to_its_source(open_report: Opener) -> None:
    page = open_report("training")
    place = page.locator(".hottest .place").first
    where = place.inner_text()
    place.click()
    chosen = page.locator(".code-row.chosen")
    chosen.wait_for()
    assert chosen.locator("span").first.inner_text() == where.rpartition(":")[2]
    assert page.locator(".about").inner_text()
    page.go_back()
    page.locator("h1.verdict").wait_for()


def test_a_click_on_a_step_opens_it_and_keys_move_on(open_report: Opener) -> None:
    page = open_report("training", "steps")
    chart = page.locator(".chart canvas").first
    box = chart.bounding_box()
    assert box is not None
    chart.click(position={"x": 64 + (box["width"] - 72) * 2.5 / 12, "y": box["height"] - 40})
    page.get_by_role("heading", name="Step 3", exact=True).wait_for()
    chart.press("ArrowRight")
    page.get_by_role("heading", name="Step 4", exact=True).wait_for()
    page.get_by_role("link", name="On the timeline").click()
    page.get_by_role("heading", name="Timeline", exact=True).wait_for()


def test_dragging_zooms_into_steps(open_report: Opener) -> None:
    page = open_report("training", "steps")
    everything = page.get_by_role("button", name="All steps")
    assert everything.is_disabled()
    box = page.locator(".chart canvas").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 600, box["y"] + 100, steps=4)
    page.mouse.up()
    everything.click()
    assert everything.is_disabled()


def calls(page: "Page") -> list[int]:
    texts = column(page, "functions", "ncalls")
    return [int(text.partition("/")[0].replace(",", "")) for text in texts if text != "–"]


def test_tables_sort_both_ways_and_filter(open_report: Opener) -> None:
    page = open_report("training", "functions")
    sort_by(page, "functions", "ncalls")
    most = calls(page)
    assert len(most) > 3
    assert most == sorted(most, reverse=True)
    sort_by(page, "functions", "ncalls")
    fewest = calls(page)
    assert fewest == sorted(fewest)
    assert fewest[0] < most[0]
    page.get_by_role("searchbox", name="Filter functions").fill("square")
    assert column(page, "functions", "function") == ["square"]
    assert column(page, "functions", "ncalls") == ["600"]


def test_a_function_unfolds_to_its_callers_and_leads_to_them(open_report: Opener) -> None:
    page = open_report("training", "functions?function=square")
    unfolded = page.locator("tr.unfolded")
    assert "called by" in unfolded.inner_text()
    colours = "cells => [...new Set(cells.map((each) => getComputedStyle(each).backgroundColor))]"
    cells = unfolded.locator("table td, table th")
    assert cells.count() > 2
    assert cells.evaluate_all(colours) == ["rgba(0, 0, 0, 0)"]
    unfolded.get_by_role("link").first.click()
    page.wait_for_function("() => !location.hash.includes('function=square')")
    assert "calls" in page.locator("tr.unfolded").inner_text()


@pytest.mark.parametrize("look", ["left heavy", "flame graph", "sunburst"])
def test_the_tree_of_calls_zooms_and_finds(open_report: Opener, look: str) -> None:
    page = open_report("training", "functions")
    thread = page.get_by_label("thread")
    calls = thread.locator("option", has_text="every call").first
    thread.select_option(value=calls.get_attribute("value"))
    page.get_by_role("button", name=look, exact=True).click()
    branches = page.locator(".graph .branch")
    branches.nth(2).dispatch_event("click")  # a whole ring's middle is its hub
    assert page.locator(".crumbs button").count() > 1
    page.locator(".graph").press("Escape")
    assert page.locator(".crumbs button").count() == 1
    page.get_by_role("searchbox", name="Find a function").fill("forward")
    assert page.locator('.graph .branch[opacity="0.25"]').count() > 0


def test_operators_are_grouped_by_shape_and_lead_to_their_lines(open_report: Opener) -> None:
    page = open_report("ranks", "operators")
    assert (
        column(page, "operators", "calls")[column(page, "operators", "operator").index("aten::mm")]
        == "2"
    )
    page.get_by_role("button", name="by shape").click()
    shapes = column(page, "operators", "input shapes")
    assert "2×3, 3×5" in shapes
    page.get_by_role("button", name="by name").click()
    page.get_by_role("table", name="operators").get_by_role("row", name="aten::mm").first.click()
    unfolded = page.locator("tr.unfolded")
    unfolded.locator(".place").first.click()
    page.locator(".code-row.chosen").wait_for()
    page.locator(".about").get_by_role("link", name="aten::mm").click()
    page.locator("tr.unfolded").wait_for()


def test_kernels_say_who_launched_them(open_report: Opener) -> None:
    page = open_report("ranks", "operators")
    assert column(page, "kernels", "kernel") == ["gemm"]
    assert column(page, "kernels", "launched by") == ["aten::mm"]


def test_each_device_can_be_chosen_on_its_page(open_report: Opener) -> None:
    page = open_report("ranks", "device")
    assert page.get_by_role("heading", name="Critical path").is_visible()
    assert column(page, "the critical path", "what")
    page.get_by_role("button", name="rank 1, device 0").click()
    assert "rank 1, device 0" in page.locator(".page-head p").inner_text()


def test_the_timeline_zooms_finds_and_selects(open_report: Opener, tmp_path: Path) -> None:
    page = open_report("ranks", "timeline")
    canvas = page.locator(".timeline canvas")
    canvas.focus()
    for key in ("w", "w", "d", "a", "s", "0"):
        canvas.press(key)
    find = page.get_by_role("searchbox", name="Find, then Enter")
    find.fill("gemm")
    assert "4 hits" in page.locator("#main").inner_text()
    find.press("Enter")
    page.get_by_role("heading", name="gemm").wait_for()
    assert "arrow" in page.locator("#main").inner_text()
    (tmp_path / "found.png").write_bytes(page.screenshot())
    canvas.press("Escape")
    page.get_by_role("button", name="Whole run").click()
    box = canvas.bounding_box()
    assert box is not None
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 300, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 700, box["y"] + 90, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert "all_reduce" not in column(page, "selected spans", "what")  # phases are named by kind
    assert "communication" in column(page, "selected spans", "what")
    (tmp_path / "selected.png").write_bytes(page.screenshot())


def test_the_source_is_coloured_and_lines_have_their_numbers(open_report: Opener) -> None:
    page = open_report("training", "source")
    assert page.locator(".code .t-k", has_text="def").count() >= 4
    row = page.locator(".code-row", has_text="return value * value")
    assert row.locator("span").nth(3).inner_text() == "600"
    heights = "rows => [...new Set(rows.map(row => row.offsetHeight))]"
    assert page.locator(".code-row:not(.code-head)").evaluate_all(heights) == [20]
    page.get_by_role("searchbox", name="Find in this file").fill("Thread(")
    page.get_by_role("searchbox", name="Find in this file").press("Enter")
    assert "threading.Thread(" in page.locator(".code-row.chosen").inner_text()


def test_anything_can_be_found_by_name(open_report: Opener) -> None:
    page = open_report("training")
    page.keyboard.press("/")
    page.get_by_role("searchbox", name="Find anything").fill("function square")
    page.keyboard.press("Enter")
    chosen = page.locator(".code-row.chosen")
    chosen.wait_for()
    assert "def square" in chosen.inner_text()


def test_light_and_dark_can_be_chosen(open_report: Opener) -> None:
    page = open_report("training")
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    switch = page.locator(".theme")
    switch.click()
    assert page.evaluate(paper) == light
    switch.click()
    dark = page.evaluate(paper)
    assert dark != light
    page.emulate_media(color_scheme="dark")
    switch.click()
    assert page.evaluate(paper) == dark


def test_it_can_be_printed(open_report: Opener, tmp_path: Path) -> None:
    page = open_report("training")
    page.emulate_media(media="print")
    assert not page.locator(".side").is_visible()
    assert page.locator("h1.verdict").is_visible()
    (tmp_path / "report.pdf").write_bytes(page.pdf(print_background=True))
    assert (tmp_path / "report.pdf").stat().st_size > 10_000


# What a sheet of paper cannot scroll to.
CUT_OFF = """() => [...document.querySelectorAll('#main *')]
    .filter((each) => !each.closest('svg') && getComputedStyle(each).overflowX !== 'visible')
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth)
    .map((each) => `${each.tagName} ${each.className}`)"""
A4_WIDE = 718  # pixels between margins of 1 cm


@pytest.mark.parametrize("report", ["training", "ranks"])
def test_nothing_is_cut_off_on_paper(open_report: Opener, report: str) -> None:
    page = open_report(report, width=A4_WIDE)
    page.emulate_media(media="print")
    for where in (*PAGES, "steps?step=4", "source?line=14", "operators?by=shape"):
        go(page, where)
        assert page.evaluate(CUT_OFF) == [], where
        wide = "() => document.documentElement.scrollWidth - innerWidth"
        assert page.evaluate(wide) <= 0, f"{where} is wider than the paper"


def test_pages_are_reached_by_keyboard_alone(open_report: Opener) -> None:
    page = open_report("training")
    page.keyboard.press("Alt+3")
    page.get_by_role("heading", name="Source", exact=True).wait_for()
    page.keyboard.press("Alt+1")
    page.locator("h1.verdict").wait_for()
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('nav') !== null")
