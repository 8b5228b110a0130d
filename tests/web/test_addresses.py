"""What is chosen is in the address: back works, links can be sent; and the list of many runs."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from build import run_of_steps
from show.viewing import viewer
from web.browser import Watch
from web.conftest import PATIENCE_MS, Opener, go

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MANY = 1000


def asked(page: "Page") -> dict[str, str]:
    search = page.evaluate("() => location.hash").partition("?")[2]
    return {name: values[0] for name, values in parse_qs(search).items()}


def test_back_leads_to_the_step_that_was_chosen_before(open_report: Opener) -> None:
    page = open_report("training", "steps")
    rows = page.get_by_role("table", name="steps", exact=True).locator("tbody tr")
    rows.nth(3).locator(".row-link").click()
    page.get_by_role("heading", name="Step 4", exact=True).wait_for()
    assert asked(page) == {"step": "4"}
    rows.nth(6).locator(".row-link").click()
    page.get_by_role("heading", name="Step 7", exact=True).wait_for()
    page.go_back()
    page.get_by_role("heading", name="Step 4", exact=True).wait_for()


def test_a_table_that_was_sorted_and_filtered_can_be_sent(open_report: Opener) -> None:
    page = open_report("training", "functions")
    table = page.get_by_role("table", name="functions")
    table.locator("thead button", has_text="cumtime").click()
    page.get_by_role("searchbox", name="Filter functions").fill("forw")
    rows = table.locator("tbody tr").all_inner_texts()
    address = page.evaluate("() => location.hash")
    other = open_report("training", address.removeprefix("#/"))
    assert other.get_by_role("searchbox", name="Filter functions").input_value() == "forw"
    assert (
        other.get_by_role("table", name="functions").locator("tbody tr").all_inner_texts() == rows
    )


def test_rows_are_links_that_open_in_another_tab(open_report: Opener) -> None:
    page = open_report("training", "functions")
    link = page.get_by_role("table", name="functions").locator("tbody .row-link").first
    assert re.match(r"#/functions\?.*function=", link.get_attribute("href") or "")


def test_the_zoom_and_the_search_of_the_timeline_are_in_the_address(open_report: Opener) -> None:
    page = open_report("ranks", "timeline")
    page.keyboard.press("w")
    page.wait_for_function("() => location.hash.includes('from=')")
    page.get_by_role("searchbox", name="Find, then Enter").fill("gemm")
    page.get_by_role("searchbox", name="Find, then Enter").press("Enter")
    page.get_by_role("heading", name="gemm").wait_for()
    page.wait_for_function(
        "() => /find=gemm.*at=/.test(location.hash) || /at=.*find=gemm/.test(location.hash)"
    )
    seen = page.locator(".timeline canvas").get_attribute("data-view")
    page.wait_for_function("seen => location.hash.includes(`from=${seen.split(' ')[0]}`)", arg=seen)
    other = open_report("ranks", page.evaluate("() => location.hash").removeprefix("#/"))
    other.get_by_role("heading", name="gemm").wait_for()
    assert other.locator(".timeline canvas").get_attribute("data-view") == seen


def test_the_run_is_in_the_address(browser: "Browser", tmp_path: Path) -> None:
    run_of_steps(tmp_path / "runs" / "first", 20)
    run_of_steps(tmp_path / "runs" / "second", 30)
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    with viewer("runs", cwd=tmp_path) as server:
        watch = Watch(page, server.address.partition("?")[0])
        page.goto(f"{server.address}#/steps?run=second")
        page.get_by_role("heading", name="Steps", exact=True).wait_for()
        assert "30 steps" in page.locator("#main").inner_text()
        page.get_by_role("link", name="Overview").click()
        page.locator("h1.verdict").wait_for()
        assert asked(page)["run"] == "second"
        page.get_by_role("link", name="all runs").click()
        page.get_by_role("row", name="first").click()
        page.locator("#main", has_text="20 steps").wait_for()
        page.go_back()
        page.get_by_role("heading", name="Runs").wait_for()
        page.go_back()
        page.locator("#main", has_text="30 steps").wait_for()
        page.close()
    watch.assert_quiet()


def test_of_a_thousand_runs_some_are_drawn_and_all_are_found(
    browser: "Browser", tmp_path: Path
) -> None:
    for number in range(MANY):
        folder = tmp_path / "runs" / f"run-{number:04}"
        folder.mkdir(parents=True)
        started = {"format": 1, "command": ["train.py", str(number)], "started_realtime_ns": number}
        (folder / "run.json").write_text(json.dumps(started))
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    with viewer("runs", cwd=tmp_path) as server:
        page.goto(server.address)
        rows = page.get_by_role("table", name="runs").locator("tbody tr")
        rows.first.wait_for()
        assert rows.count() == 100
        page.get_by_role("searchbox", name="Filter runs").fill("run-0007")
        page.get_by_text("1 of 1,000").wait_for()
        assert rows.count() == 1
        page.close()


def test_pages_with_nothing_to_show_are_not_in_the_menu(open_report: Opener) -> None:
    page = open_report("training")
    titles = page.locator(".side nav a span:first-child").all_inner_texts()
    assert titles[:2] == ["Overview", "Steps"]
    assert not {"Ranks", "Processes", "Input", "Operators", "Compare", "Try"} & set(titles)
    page = open_report("ranks")
    titles = page.locator(".side nav a span:first-child").all_inner_texts()
    assert {"Ranks", "Operators"} <= set(titles)
    go(page, "compare")
    assert "This report shows one run" in page.locator("#main").inner_text()


def test_the_device_that_was_chosen_is_in_the_address(open_report: Opener) -> None:
    page = open_report("ranks", "device")
    page.get_by_role("button", name="rank 1, device 0").click()
    other = open_report("ranks", page.evaluate("() => location.hash").removeprefix("#/"))
    assert "rank 1, device 0" in other.locator(".page-head p").inner_text()


def test_what_is_searched_for_in_a_file_and_its_heat_stay_while_lines_are_chosen(
    open_report: Opener,
) -> None:
    page = open_report("training", "source")
    page.get_by_role("button", name="hits").click()
    page.get_by_role("searchbox", name="Find in this file").fill("square")
    page.locator(".code-row.hit .at a").first.click()
    page.locator(".code-row.chosen").wait_for()
    other = open_report("training", page.evaluate("() => location.hash").removeprefix("#/"))
    assert other.get_by_role("searchbox", name="Find in this file").input_value() == "square"
    assert other.get_by_role("button", name="hits").get_attribute("aria-pressed") == "true"
    assert other.locator(".code-row.chosen").count() == 1


def test_lines_are_links_that_open_in_another_tab(open_report: Opener) -> None:
    page = open_report("training", "source")
    link = page.locator(".code-row.hit .at a").last
    where = link.get_attribute("href") or ""
    assert f"line={link.inner_text()}" in where
    other = open_report("training", where.removeprefix("#/"))
    assert other.locator(".code-row.chosen .at").inner_text() == link.inner_text()


def test_an_address_that_asks_for_what_is_not_there_shows_what_is(open_report: Opener) -> None:
    for where in (
        "source?heat=cold", "functions?look=up&at=9.9.9&thread=99", "device?device=7",
        "timeline?measured=a..b&from=x&to=y&pin=z", "steps?range=9-1&last=x",
    ):  # fmt: skip
        page = open_report("ranks" if where.startswith(("device", "time")) else "training", where)
        assert page.locator(".page h1").inner_text()


def test_the_title_of_the_window_names_the_page_and_the_run(open_report: Opener) -> None:
    page = open_report("training", "steps")
    page.wait_for_function("() => document.title === 'Steps – run – stepscope'")
