"""A real Chromium for the tests of the page; `.ci/chromium` installs it if possible."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

import needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS: Final = [
    "--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def chromium() -> str:
    """Its path; skips if there is none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("Chromium is not here: .ci/chromium could not install it, or was not run")
    return found


@contextmanager
def started() -> Iterator["Browser"]:
    api = needs.module("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Watch:
    """What a page must not do: log errors, or request anything beyond itself."""

    def __init__(self, page: "Page", allowed: str) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self._console(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._request(request.url, allowed))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))

    def _console(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(f"{kind}: {text}")

    def _request(self, url: str, allowed: str) -> None:
        if not url.startswith((allowed, "data:", "about:", "blob:")):
            self.requests.append(url)

    def assert_quiet(self) -> None:
        assert not self.complaints
        assert not self.requests
