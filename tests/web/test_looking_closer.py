"""What the pages offer to look closer: a step, a line, a function, a stretch of the timeline."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from build import CWD, MS, RunBuilder, run_of_steps
from show.viewing import viewer
from stepscope.analyze.run import load
from stepscope.show.exporters.html import export
from stepscope.store.format import HITS_THINNED
from web.conftest import PAGES, PATIENCE_MS, Opener, go

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Panels and tables whose content is cut off, or needs to be scrolled sideways.
TOO_WIDE = """() => [...document.querySelectorAll('.panel, .table-scroll, .figure, table')]
    .filter((each) => !each.closest('.code'))
    .filter((each) => each.scrollWidth > each.clientWidth + 1 ||
        each.getBoundingClientRect().right > document.querySelector('#main').clientWidth
            + document.querySelector('#main').getBoundingClientRect().left)
    .map((each) => [each.className || each.getAttribute('aria-label'), each.scrollWidth,
        each.clientWidth].join(' '))"""


@pytest.mark.parametrize("report", ["training", "ranks"])
def test_nothing_is_wider_than_its_panel(open_report: Opener, report: str) -> None:
    page = open_report(report, width=1280)
    for where in (*PAGES, "steps?step=4", "operators?by=shape"):
        go(page, where)
        assert page.evaluate(TOO_WIDE) == [], where


LEAST_OF_A_NAME = 120  # pixels: with less it has a letter or two in a line


def test_a_phone_shows_every_page_in_its_width(open_report: Opener) -> None:
    page = open_report("training", width=390, height=800)
    for where in PAGES:
        go(page, where)
        wide = "() => document.documentElement.scrollWidth - innerWidth"
        assert page.evaluate(wide) <= 0, where
        names = page.locator(".table-box td.wide")
        widths = names.evaluate_all("cells => cells.map((each) => each.offsetWidth)")
        assert min(widths, default=LEAST_OF_A_NAME) >= LEAST_OF_A_NAME, where


def in_sight(page: "Page", selector: str) -> bool:
    box = page.locator(selector).first.bounding_box()
    size = page.viewport_size
    assert size is not None
    return box is not None and box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


def test_a_chosen_step_is_beside_its_chart_which_stays_in_sight(open_report: Opener) -> None:
    page = open_report("training", "steps")
    rows = page.get_by_role("table", name="steps", exact=True).locator("tbody tr")
    rows.last.scroll_into_view_if_needed()
    rows.last.locator(".row-link").click()
    page.get_by_role("heading", name="Step 12", exact=True).wait_for()
    assert in_sight(page, ".step-chart canvas")
    chart = page.locator(".step-chart .panel").first.bounding_box()
    details = page.locator(".step-details").bounding_box()
    assert chart is not None
    assert details is not None
    assert details["x"] >= chart["x"] + chart["width"]


def test_each_hatching_has_its_words(open_report: Opener) -> None:
    page = open_report("training", "steps")
    legend = page.locator(".legend").first.inner_text()
    assert "not counted" in legend
    assert "estimated" in legend
    assert "p10–p90" in page.locator("#main").inner_text()
    assert "8 in 10" not in page.locator("#main").inner_text()


def test_new_steps_of_a_live_run_are_followed(browser: "Browser", tmp_path: Path) -> None:
    run_of_steps(tmp_path / "run", 20, status="running")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    chart = "Time of {} steps"
    with viewer("run", cwd=tmp_path) as server:
        page.goto(f"{server.address}#/steps?last=5")
        page.locator(f"canvas[aria-label^='{chart.format(20)}']").first.wait_for()
        assert page.locator("canvas").first.get_attribute("data-shown") == "16 20"
        run_of_steps(tmp_path / "run", 45, status="running")
        page.locator(f"canvas[aria-label^='{chart.format(45)}']").first.wait_for()
        assert page.locator("canvas").first.get_attribute("data-shown") == "41 45"
        page.close()


def test_names_of_functions_are_searched_not_those_of_files(open_report: Opener) -> None:
    page = open_report("training", "functions")
    thread = page.get_by_label("thread")
    calls = thread.locator("option", has_text="every call").first.get_attribute("value")
    thread.select_option(value=calls)
    page.get_by_role("searchbox", name="Find a function").fill("small_training")
    assert "0 ns, 0.0 % of the thread" in page.locator(".matched").inner_text()
    page.get_by_role("searchbox", name="Find a function").fill("square")
    page.wait_for_function(
        "() => !document.querySelector('.matched').textContent.includes(' 0.0 %')"
    )


def test_the_sandwich_has_callers_above_and_callees_below(open_report: Opener) -> None:
    page = open_report("training", "functions?look=sandwich")
    graphs = page.locator(".sandwich .graph svg")
    assert graphs.count() == 2
    middle = page.locator(".sandwich .middle").bounding_box()
    above, below = (graphs.nth(index).bounding_box() for index in range(2))
    assert middle is not None
    assert above is not None
    assert below is not None
    assert above["y"] < middle["y"] < below["y"]


def test_the_time_order_is_from_left_to_right_as_it_happened(open_report: Opener) -> None:
    page = open_report("training", "functions?look=time order")
    assert page.get_by_role("button", name="time order").get_attribute("aria-pressed") == "true"
    assert "as it happened" in page.locator("#main").inner_text()
    assert page.locator(".graph .branch").count() > 1


def test_the_wheel_zooms_at_the_pointer_and_keys_work_at_once(open_report: Opener) -> None:
    page = open_report("ranks", "timeline")
    canvas = page.locator(".timeline canvas")

    def view() -> tuple[int, int]:
        first, last = (canvas.get_attribute("data-view") or "").split()
        return int(first), int(last)

    whole = view()
    page.keyboard.press("w")  # nothing has the focus
    page.wait_for_function(
        "was => document.querySelector('.timeline canvas').dataset.view !== was",
        arg=" ".join(map(str, whole)),
    )
    page.keyboard.press("0")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 60)  # at the end of the run
    page.mouse.wheel(0, -200)
    page.wait_for_function(
        "was => document.querySelector('.timeline canvas').dataset.view !== was",
        arg=" ".join(map(str, whole)),
    )
    zoomed = view()
    wide = whole[1] - whole[0]
    assert zoomed[0] > whole[0] + wide // 4
    assert abs(zoomed[1] - whole[1]) < wide // 50


def test_a_lane_is_pinned_and_two_points_are_measured(open_report: Opener) -> None:
    page = open_report("ranks", "timeline")
    canvas = page.locator(".timeline canvas")
    lanes = (canvas.get_attribute("data-lanes") or "").split("|")
    page.evaluate("() => { location.hash = '#/timeline?pin=1' }")
    page.wait_for_function(
        "was => document.querySelector('.timeline canvas').dataset.lanes !== was",
        arg="|".join(lanes),
    )
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 80)
    page.keyboard.press("m")
    page.mouse.move(box["x"] + 600, box["y"] + 80)
    page.keyboard.press("m")
    page.get_by_role("heading", name="Selected:").wait_for()


def test_the_source_says_how_and_when_a_lines_time_was_spent(open_report: Opener) -> None:
    page = open_report("training", "source")
    heads = page.locator(".code-head span").all_inner_texts()
    for title in ("python", "native", "waiting", "over the run"):
        assert title in heads
    assert page.locator(".code-row .spark rect").count() > 0


def test_a_thinned_line_shows_its_likely_hits(browser: "Browser", tmp_path: Path) -> None:
    """10,000 hits in 1 ms were counted; 2 ms were sampled after it was thinned out."""
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    thinned = [(10_000 | HITS_THINNED, MS), (7, MS)]
    process.lines(process.code(), 1, thinned, flags=1, sampled_ns=2 * MS)
    process.write()
    path = tmp_path / "report.html"
    path.write_bytes(export(load(run.path)))
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{path.as_uri()}#/source?line=1")
    cells = page.locator(".code-row.hit").first.locator("span.number").all_inner_texts()
    assert cells[1:5] == ["≈3.00 ms", cells[2], "≈30,000", "100 ns"]
    assert "after 10,000 hits" in page.locator(".about").inner_text()
    page.close()


LONG = "weights = [" + ", ".join(["0.123456789"] * 60) + "]"


def test_a_long_line_scrolls_in_its_panel_and_its_number_stays(
    browser: "Browser", tmp_path: Path
) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    process.lines(process.code(file=process.file(text=f"x = 1\n{LONG}\n")), 1, [(1, MS), (1, MS)])
    process.write()
    path = tmp_path / "report.html"
    path.write_bytes(export(load(run.path)))
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{path.as_uri()}#/source?line=2")
    code = page.locator(".code")
    code.wait_for()
    assert code.evaluate("code => code.scrollWidth > code.clientWidth")
    number = page.locator(".code-row[data-line='2'] .at")
    before = number.bounding_box()
    code.evaluate("code => code.scrollTo(600, 0)")
    assert number.bounding_box() == before
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.close()


def test_the_first_column_stays_while_the_others_scroll(open_report: Opener) -> None:
    page = open_report("ranks", "operators?by=shape", width=620)
    box = page.locator(".table-scroll").last
    cell = box.locator("tbody td").first
    before = cell.bounding_box()
    assert box.evaluate("box => { box.scrollTo(200, 0); return box.scrollLeft }") > 0
    assert cell.bounding_box() == before


def test_each_thread_has_its_tree(open_report: Opener) -> None:
    page = open_report("training", "functions")
    threads = page.get_by_label("thread").locator("option").all_inner_texts()
    assert {"MainThread", "helper"} <= {each.split(" · ")[1] for each in threads}
    values = page.get_by_label("thread").locator("option", has_text="helper").first
    page.get_by_label("thread").select_option(value=values.get_attribute("value"))
    page.locator(".crumbs button", has_text="helper").wait_for()
    assert "thread=" in page.url


OWN_CODE = "#ee7733"
LIBRARY = "/usr/lib/python3.12/site-packages/numpy/core.py"
FILLS = """all => Object.fromEntries(all.map(
    (each) => [each.textContent, each.querySelector('rect').getAttribute('fill')]))"""
ROWS = """all => Object.fromEntries(all.map(
    (each) => [each.textContent, each.transform.baseVal[0].matrix.f]))"""


def drawn_names(page: "Page") -> list[str]:
    """Of the branches, from left to right."""
    found: list[list[float | str]] = page.locator(".graph .branch").evaluate_all(
        "all => all.map((each) => [each.transform.baseVal[0].matrix.e, each.textContent])"
    )
    return [str(name) for _, name in sorted(found)]


def test_left_heavy_has_the_longest_first_and_the_time_order_the_earliest(
    browser: "Browser", tmp_path: Path
) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    caller = process.node(process.function("train"), process.node(process.function("outer")))
    for name, at_ms, lasted_ms in (("early", 0, 10), ("longest", 10, 50), ("late", 60, 20)):
        file = LIBRARY if name == "late" else f"{CWD}/train.py"
        node = process.node(process.function(name, file=file), caller)
        process.sample(node, at_ms * MS, lasted_ms * MS, count=lasted_ms)
    process.write()
    path = tmp_path / "report.html"
    path.write_bytes(export(load(run.path)))
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    fills: list[str] = []
    for look, expected in (
        ("left heavy", ["longest", "late", "early"]), ("time order", ["early", "longest", "late"]),
    ):  # fmt: skip
        page.goto(f"{path.as_uri()}#/functions?look={look.replace(' ', '+')}")
        page.locator(".graph .branch", has_text="longest").wait_for()
        assert [name for name in drawn_names(page) if name in expected] == expected
        fills.append(page.locator(".graph .branch").evaluate_all(FILLS)["late"])
        rows = page.locator(".graph .branch").evaluate_all(ROWS)
        assert rows["outer"] < rows["train"] < rows["longest"] == rows["early"] == rows["late"]
    assert fills[0] == fills[1] != OWN_CODE
    page.close()
