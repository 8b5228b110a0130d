"""`stepscope view` in a real browser: the list, a run, tiles, growing runs; and in a notebook."""

from pathlib import Path
from typing import TYPE_CHECKING

from build import BOOT_NS, MS, RunBuilder, run_of_steps
from show.exporters.traced import two_ranks
from show.viewing import viewer
from stepscope.analyze.answers.run_list import run_entry
from stepscope.analyze.run import load
from stepscope.analyze.timeline.run_timeline import MOST_IN_A_ROW
from stepscope.show.report.content import content
from stepscope.show.report.file import REPORT_FILE, write_report
from stepscope.show.report.page import frame
from stepscope.store.format import SUPERVISOR_FILE
from two_runs import trained
from web.browser import Watch
from web.conftest import PATIENCE_MS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route


def test_runs_are_listed_found_and_opened(browser: "Browser", tmp_path: Path) -> None:
    run_of_steps(tmp_path / "runs" / "first", 20)
    run_of_steps(tmp_path / "runs" / "second", 30)
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    with viewer("runs", cwd=tmp_path) as server:
        watch = Watch(page, server.address.partition("?")[0])
        page.goto(server.address)
        page.get_by_role("heading", name="Runs").wait_for()
        page.get_by_role("searchbox", name="Filter runs").fill("sec")
        page.get_by_role("row", name="second").click()
        page.locator("h1.verdict").wait_for()
        assert "30 steps" in page.locator("#main").inner_text()
        (tmp_path / "run.png").write_bytes(page.screenshot())
        page.get_by_role("link", name="all runs").click()
        page.get_by_role("row", name="first").click()
        page.locator("#main", has_text="20 steps").wait_for()
        page.close()
    watch.assert_quiet()


def test_a_run_that_is_being_recorded_updates_itself(browser: "Browser", tmp_path: Path) -> None:
    run_of_steps(tmp_path / "run", 20, status="running")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    with viewer("run", cwd=tmp_path) as server:
        page.goto(server.address)
        page.locator("#main", has_text="20 steps").wait_for()
        run_of_steps(tmp_path / "run", 45, status="running")
        page.locator("#main", has_text="45 steps").wait_for()
        page.close()


def test_a_long_timeline_comes_in_tiles(browser: "Browser", tmp_path: Path) -> None:
    run_of_steps(tmp_path / "run", 3 * MOST_IN_A_ROW)
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    with viewer("run", cwd=tmp_path) as server:
        watch = Watch(page, server.address.partition("?")[0])
        page.goto(server.address)
        page.locator("h1.verdict").wait_for()
        with page.expect_response(lambda answer: "/api/tile" in answer.url) as told:
            page.evaluate("() => { location.hash = '#/timeline?from=100000000&to=120000000' }")
        assert told.value.ok
        lane = next(each for each in told.value.json()["tile"]["lanes"] if each["kind"] == "step")
        assert lane["count"] is None
        page.close()
    watch.assert_quiet()


def test_a_timeline_that_is_moved_shows_every_span_wherever_it_is(
    browser: "Browser", tmp_path: Path
) -> None:
    run_of_steps(tmp_path / "run", 3 * MOST_IN_A_ROW)
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    drawn = page.locator(".timeline canvas[data-drawn=all]")
    with viewer("run", cwd=tmp_path) as server:
        watch = Watch(page, server.address.partition("?")[0])
        page.goto(f"{server.address}#/timeline")
        drawn.wait_for()
        canvas = page.locator(".timeline canvas")
        for key in "wwwwwwwwdddddddddddddddddddddsss0":
            canvas.press(key)
        drawn.wait_for()
        page.close()
    watch.assert_quiet()


def test_a_run_that_takes_long_to_read_is_seen_to_be_read(
    browser: "Browser", tmp_path: Path
) -> None:
    run_of_steps(tmp_path / "run", 20)
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    held: list[Route] = []
    with viewer("run", cwd=tmp_path) as server:
        page.route(lambda url: "/api/run?" in url, lambda route: held.append(route))
        with page.expect_response(lambda answer: "/api/progress" in answer.url):
            page.goto(server.address)
            page.get_by_role("heading", name="Preparing the run").wait_for()
        held[0].continue_()
        page.locator("h1.verdict").wait_for()
        page.close()


def test_in_a_notebook_the_report_is_drawn_in_its_frame(browser: "Browser", tmp_path: Path) -> None:
    html = frame(content(load(run_of_steps(tmp_path / "run", 20))))
    (tmp_path / "notebook.html").write_text(f"<!doctype html><body>{html}</body>")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    watch = Watch(page, (tmp_path / "notebook.html").as_uri())
    page.goto((tmp_path / "notebook.html").as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("h1.verdict").wait_for()
    inside.locator("nav a", has_text="Source").click()
    inside.locator(".code-row").first.wait_for()
    inside.locator("nav a", has_text="Timeline").click()
    inside.locator(".timeline canvas").wait_for()
    page.close()
    watch.assert_quiet()


def test_a_run_is_compared_with_the_one_before_it(browser: "Browser", tmp_path: Path) -> None:
    for hour, (name, input_ms) in enumerate((("monday", 15), ("tuesday", 5))):
        started_ns = hour * 3_600_000_000_000
        folder = tmp_path / "runs" / name
        run = trained(folder, input_ms=input_ms, rest_ms=5, started_realtime_ns=started_ns)
        write_report(run, str(run.path / REPORT_FILE))
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    with viewer("runs", cwd=tmp_path) as server:
        watch = Watch(page, server.address.partition("?")[0])
        page.goto(server.address)
        page.get_by_role("row", name="tuesday").get_by_text("10.0 ms", exact=True).wait_for()
        page.get_by_role("row", name="tuesday").click()
        page.locator("h1.verdict").wait_for()
        page.get_by_role("link", name="Compare").click()
        page.get_by_text("input takes 10.0 ms less").wait_for()
        assert "2.00×" in page.locator("#main").inner_text()
        page.close()
    watch.assert_quiet()


def test_the_list_says_what_each_run_came_to(browser: "Browser", tmp_path: Path) -> None:
    ends = (("monday", 15, 0), ("tuesday", 5, 1))
    for hour, (name, input_ms, exit_status) in enumerate(ends, 1):
        started_ns = hour * 3_600_000_000_000
        folder = tmp_path / "runs" / name
        run = trained(folder, input_ms=input_ms, rest_ms=5, started_realtime_ns=started_ns)
        write_report(run, str(run.path / REPORT_FILE))
        (folder / SUPERVISOR_FILE).write_text(f'{{"exit_status": {exit_status}, "signal": null}}')
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    with viewer("runs", cwd=tmp_path) as server:
        page.goto(server.address)
        table = page.get_by_role("table", name="runs")
        table.locator("tbody tr").first.wait_for()
        titles = [each.strip("▴▾\n") for each in table.locator("thead th").all_inner_texts()]
        rows = [
            dict(zip(titles, row.locator("td").all_inner_texts(), strict=True))
            for row in table.locator("tbody tr").all()
        ]
        told = [[row[each] for each in ("run", "mean step", "change", "status")] for row in rows]
        assert told == [
            ["tuesday", "10.0 ms", "2.00×", "failed (1)"], ["monday", "20.0 ms", "–", "ended"],
        ]  # fmt: skip
        assert all("of step time" in row["verdict"] for row in rows)
        assert [row["duration"] for row in rows] == ["620 ms", "1.22 s"]
        table.locator("thead button", has_text="mean step").click()
        assert table.locator("tbody .row-link").all_inner_texts() == ["monday", "tuesday"]
        page.get_by_role("searchbox", name="Filter runs").fill("failed")
        page.get_by_text("1 of 2").wait_for()
        page.close()


def test_the_list_has_the_duration_of_all_ranks_and_their_launcher(tmp_path: Path) -> None:
    """The ranks take 80 ms; the launcher, 300 ms and its start."""
    path = two_ranks(tmp_path / "run")
    launcher = RunBuilder(path).process(pid=50)
    launcher.write(ended_ns=300 * MS)
    run = load(path)
    write_report(run, str(path / REPORT_FILE))
    timeline, figures = content(run).timeline, run_entry("run", path).figures
    assert timeline is not None
    assert figures is not None
    assert figures.wall_ns == timeline.whole_ns == 300 * MS + BOOT_NS
