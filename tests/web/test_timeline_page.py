"""The timeline in a real browser: its own lanes, arrows, what is between two points, and back."""

from pathlib import Path
from typing import TYPE_CHECKING

from build import BOOT_NS, MS
from stepscope.show.exporters.html import export
from two_runs import trained
from web.conftest import PATIENCE_MS, Opener

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def lanes(page: "Page") -> list[str]:
    return (page.locator(".timeline canvas").get_attribute("data-lanes") or "").split("|")


def find(page: "Page", words: str) -> None:
    box = page.get_by_role("searchbox", name="Find, then Enter")
    box.fill(words)
    box.press("Enter")


def test_findings_and_counters_have_lanes_of_their_own(browser: "Browser", tmp_path: Path) -> None:
    """Steps that read a file for 15 of 20 ms, with samples in the line that reads it."""
    path = tmp_path / "report.html"
    path.write_bytes(export(trained(tmp_path / "run", input_ms=15, rest_ms=5, cpu_ms=5)))
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{path.as_uri()}#/timeline")
    page.locator(".timeline canvas").wait_for()
    assert lanes(page)[0] == "findings"
    assert {"CPU", "memory"} <= set(lanes(page))
    find(page, "Waiting for the batch")
    page.get_by_role("link", name="Open the finding").click()
    page.locator("h1.verdict").wait_for()
    page.close()


def test_arrows_lead_from_the_launch_to_the_kernel_and_back(open_report: Opener) -> None:
    page = open_report("ranks", "timeline")
    find(page, "gemm")
    page.get_by_role("heading", name="gemm").wait_for()
    page.get_by_role("button", name="launched by aten::mm").click()
    page.get_by_role("heading", name="aten::mm").wait_for()
    page.get_by_role("button", name="launched gemm").click()
    page.get_by_role("heading", name="gemm").wait_for()


def test_arrows_lead_from_the_forward_pass_to_its_backward(open_report: Opener) -> None:
    page = open_report("ranks", "timeline")
    find(page, "aten::mm")
    page.get_by_role("heading", name="aten::mm").wait_for()
    page.get_by_role("button", name="its backward").click()
    page.get_by_role("button", name="its forward aten::mm").click()
    page.get_by_role("heading", name="aten::mm").wait_for()


def test_what_was_measured_is_in_the_address(open_report: Opener) -> None:
    page = open_report("ranks", "timeline")
    box = page.locator(".timeline canvas").bounding_box()
    assert box is not None
    for at in (300, 600):
        page.mouse.move(box["x"] + at, box["y"] + 80)
        page.keyboard.press("m")
    heading = page.get_by_role("heading", name="Selected:")
    heading.wait_for()
    rows = page.get_by_role("table", name="selected spans").locator("tbody tr").all_inner_texts()
    other = open_report("ranks", page.evaluate("() => location.hash").removeprefix("#/"))
    other_rows = other.get_by_role("table", name="selected spans").locator("tbody tr")
    assert other.get_by_role("heading", name="Selected:").inner_text() == heading.inner_text()
    assert other_rows.all_inner_texts() == rows
    page.get_by_role("button", name="Clear").click()
    heading.wait_for(state="detached")


def test_the_times_between_two_points_are_summed_by_name(open_report: Opener) -> None:
    """Two ranks have a collective of 1 ms each, from 8 to 9 ms of the recording."""
    from_ns, to_ns = BOOT_NS + 7 * MS, BOOT_NS + 10 * MS
    page = open_report("ranks", f"timeline?measured={from_ns}..{to_ns}")
    row = page.get_by_role("table", name="selected spans").locator("tr", has_text="communication")
    assert row.locator("td").all_inner_texts()[2:5] == ["2", "2.00 ms", "1.00 ms"]


def test_clicks_on_nothing_are_not_in_the_way_back(open_report: Opener) -> None:
    page = open_report("ranks", "overview")
    page.locator("nav a", has_text="Timeline").click()
    canvas = page.locator(".timeline canvas")
    canvas.wait_for()
    for _ in range(3):
        canvas.click(position={"x": 400, "y": 10})
    page.keyboard.press("Escape")
    page.go_back()
    page.locator("h1.verdict").wait_for()
