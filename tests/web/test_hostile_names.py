"""Names that look like code are shown as text, wherever they turn up, and never run."""

from typing import TYPE_CHECKING

from show.hostile import NAME
from web.conftest import PAGES, Opener, go

if TYPE_CHECKING:
    from playwright.sync_api import Page

SEEN = "</script><script>window.__hacked=1</script>"


def assert_harmless(page: "Page") -> None:
    assert page.evaluate("() => window.__hacked") is None
    assert page.locator("#app script, #app img, #app style, #app iframe").count() == 0


def whole_names(page: "Page") -> str:
    """What is shown on hover where a name was cut."""
    titles = "all => all.map((each) => each.title).join(' ')"
    found: str = page.locator("#main bdi[title]").evaluate_all(titles)
    return found


def test_no_name_becomes_code_on_any_page(open_report: Opener) -> None:
    page = open_report("hostile")
    shown = 0
    for where in PAGES:
        go(page, where)
        assert_harmless(page)
        shown += SEEN in page.locator("#main").inner_text()
    assert shown >= 5


def test_no_name_of_a_trace_becomes_code(open_report: Opener) -> None:
    """Operators, kernels, threads, files and devices are named by whoever wrote the trace."""
    page = open_report("hostile trace")
    shown = 0
    for where in PAGES:
        go(page, where)
        assert_harmless(page)
        text = page.locator("#main").inner_text()
        assert "\x1b" not in text
        assert "\u202e" not in text
        shown += SEEN in text + whole_names(page)
    assert shown >= 1  # the timeline is a picture


def test_chosen_and_searched_for_they_stay_text(open_report: Opener) -> None:
    page = open_report("hostile", "functions")
    page.locator(".table-box tbody .row-link").first.click()
    page.get_by_role("searchbox", name="Find a function").fill(NAME)
    assert_harmless(page)
    go(page, "source")
    page.locator(".code-row").nth(4).click()
    assert_harmless(page)
    page.keyboard.press("/")
    page.get_by_role("searchbox", name="Find anything").fill("script")
    assert page.locator(".finder li").count() > 0
    assert_harmless(page)
    go(page, "timeline")
    page.get_by_role("searchbox", name="Find, then Enter").fill("script")
    page.get_by_role("searchbox", name="Find, then Enter").press("Enter")
    assert_harmless(page)


def test_an_address_cannot_bring_code_in(open_report: Opener) -> None:
    page = open_report("hostile")
    for where in (
        f"source?file={SEEN}&line=1",
        f"functions?function={SEEN}",
        f"{SEEN}",
        "steps?step=1e99",
    ):
        page.evaluate("where => { location.hash = where }", f"#/{where}")
        page.locator("h1").first.wait_for()
        assert_harmless(page)


def test_marks_of_direction_and_control_characters_are_spelled_out(open_report: Opener) -> None:
    page = open_report("hostile", "files")
    text = page.locator("#main").inner_text()
    assert "\\u202e" in text
    assert "\u202e" not in text
    assert "\x1b" not in text
