"""One browser and four reports for all tests of the page."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import needs
from show.exporters.recorded import record
from show.exporters.traced import two_ranks
from show.hostile import hostile_run, hostile_trace
from stepscope.analyze.traces.foreign import load_any
from stepscope.show.exporters.html import export
from web.browser import Watch, started

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = (
    "overview", "steps", "source", "functions", "operators", "device", "timeline", "memory",
    "input", "ranks", "files", "compare",
)  # fmt: skip
PATIENCE_MS = 20_000  # only how long to wait before a hang counts as a failure

Opener = Callable[..., "Page"]


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    needs.require_page()
    with started() as found:
        yield found


@pytest.fixture(scope="session")
def reports(browser: "Browser", tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A training that was recorded, two ranks with a device, a run and a trace of hostile names."""
    folder = tmp_path_factory.mktemp("reports")
    runs = {
        "training": record(tmp_path_factory.mktemp("training")) / "run",
        "ranks": two_ranks(folder / "two ranks"),
        "hostile": hostile_run(folder / "hostile"),
        "hostile trace": hostile_trace(folder / "hostile.json"),
    }
    files = {name: folder / f"{name}.html" for name in runs}
    for name, run in runs.items():
        files[name].write_bytes(export(load_any(run)))
    return files


@pytest.fixture
def open_report(browser: "Browser", reports: dict[str, Path]) -> Iterator[Opener]:
    """Opens a report; at the end there must be no errors and no requests."""
    watches: list[Watch] = []
    contexts = []

    def opened(
        name: str, where: str = "overview", *, width: int = 1280, height: int = 900,
        scheme: str = "light",
    ) -> "Page":  # fmt: skip
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        address = reports[name].as_uri()
        watches.append(Watch(page, address))
        page.goto(f"{address}#/{where}")
        page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    for watch in watches:
        watch.assert_quiet()


def go(page: "Page", where: str) -> None:
    page.evaluate("where => { location.hash = where }", f"#/{where}")
    heading = page.locator(".page h1")
    heading.wait_for()
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 30)))")
