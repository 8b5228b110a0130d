"""The pages of a trace of another tool, with long names of kernels, stacks and modules."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from stepscope.analyze.traces.foreign import load_any
from stepscope.show.exporters.html import export
from web.browser import Watch
from web.conftest import go
from web.test_looking_closer import TOO_WIDE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ELEMENTWISE = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::{}<c10::BFloat16>, "
    "at::detail::Array<char*, (int)3> >(int, at::native::{}<c10::BFloat16>, at::detail::Array)"
)
KERNELS = {
    ELEMENTWISE.format("AddFunctor", "AddFunctor"): (
        "vectorized_elementwise_kernel<4, AddFunctor<BFloat16>, Array<char*, 3>>"
    ),
    ELEMENTWISE.format("MulFunctor", "MulFunctor"): (
        "vectorized_elementwise_kernel<4, MulFunctor<BFloat16>, Array<char*, 3>>"
    ),
    "void (anonymous namespace)::softmax_warp_forward<float, 10, true>(float*, int)": (
        "softmax_warp_forward<float, 10, true>"
    ),
    "std::enable_if<!(false), void>::type internal::gemvx::kernel<int>(cublasGemvParams)": (
        "kernel<int>"
    ),
    "Memcpy HtoD (Pageable -> Device)": "Memcpy HtoD (Pageable -> Device)",
    "volta_sgemm_64x64_nt": "volta_sgemm_64x64_nt",
}


def event(name: str, category: str, start: int, lasted: int, **more: Any) -> dict[str, Any]:
    base = {"ph": "X", "cat": category, "name": name, "pid": 7, "tid": 7, "args": {}}
    return base | {"ts": start, "dur": lasted} | more


def trace(path: Path) -> Path:
    events = [
        event("ProfilerStep#0", "user_annotation", 0, 10_000),
        event("a_rather_long_name_of_a_script.py(40): training_step", "python_function", 10, 9_000),
        event("nn.Module: VideoClassificationModel_0", "python_function", 20, 8_000),
        event("nn.Module: SelfAttentionWithALongName_0", "python_function", 30, 7_000),
    ]
    for at, name in enumerate(KERNELS):
        start, device = 100 + 1000 * at, {"device": 0, "stream": 7, "External id": at}
        kind = "gpu_memcpy" if name.startswith("Mem") else "kernel"
        events.append(event(f"aten::a_long_operator_{at}", "cpu_op", start, 500,
                            args={"External id": at}))  # fmt: skip
        events.append(event(name, kind, start + 100, 300, pid=0, args=device))
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.fixture
def page(browser: "Browser", tmp_path: Path) -> "Iterator[Page]":
    report = tmp_path / "report.html"
    report.write_bytes(export(load_any(trace(tmp_path / "trace.json"))))
    shown = browser.new_page(viewport={"width": 1280, "height": 900})
    watch = Watch(shown, report.as_uri())
    shown.goto(report.as_uri())
    shown.wait_for_selector("html[data-ready]")
    yield shown
    shown.close()
    watch.assert_quiet()


def test_kernels_are_shown_by_what_differs_and_in_whole_on_hover(page: "Page") -> None:
    go(page, "operators")
    shown = page.get_by_role("table", name="kernels", exact=True).locator(".kernel")
    names = {each.get_attribute("title"): each.inner_text() for each in shown.all()}
    assert names.keys() == KERNELS.keys()
    for whole, short in names.items():
        first, _, last = short.partition("…")
        expected = KERNELS[whole or ""]
        assert expected.startswith(first)
        assert expected.endswith(last)
    assert len(set(names.values())) == len(KERNELS)


def test_operators_are_grouped_by_module(page: "Page") -> None:
    go(page, "operators")
    page.get_by_role("button", name="by module", exact=True).click()
    rows = page.get_by_role("table", name="operators", exact=True).locator("tbody tr")
    titles = [each.get_attribute("title") for each in rows.locator("td:first-child [title]").all()]
    model = "VideoClassificationModel"
    assert sorted(filter(None, titles)) == [
        "(outside modules)", model, f"{model} › SelfAttentionWithALongName"
    ]  # fmt: skip
    assert "by=module" in page.url


def test_nothing_of_a_trace_is_wider_than_its_panel_or_empty(page: "Page") -> None:
    links = page.locator(".side nav a").all()
    pages = [(each.get_attribute("href") or "").removeprefix("#/") for each in links]
    for where in (*pages, "operators?by=module", "operators?by=shape"):
        go(page, where)
        assert page.evaluate(TOO_WIDE) == [], where
        for table in page.locator("main table").all():
            assert table.locator("tbody tr").count(), f"a table without rows on {where}"


def test_titles_of_a_table_end_on_one_line(page: "Page") -> None:
    go(page, "operators")
    for table in ("kernels", "operators"):
        buttons = page.get_by_role("table", name=table, exact=True).locator("th button")
        boxes = [each.bounding_box() for each in buttons.all() if each.inner_text()]
        assert len({round(box["y"] + box["height"]) for box in boxes if box}) == 1, table


def test_a_place_is_never_cut_in_its_line(page: "Page") -> None:
    go(page, "functions")
    places = page.get_by_role("table", name="functions").locator(".place", has_text="a_rather")
    assert places.count() > 0
    for place in places.all():
        assert re.fullmatch(r"a_rather…?\w*….*:40", place.inner_text())
        assert place.evaluate("place => place.scrollWidth <= place.clientWidth")


def test_every_link_leads_to_a_page_of_the_menu(page: "Page") -> None:
    """The trace has no text of its scripts, so there is no page of the source."""
    menu = {each.get_attribute("href") for each in page.locator(".side nav a").all()}
    for where in [(each or "").removeprefix("#/") for each in menu]:
        go(page, where)
        links = page.locator("#main a[href]").all()
        led = {(link.get_attribute("href") or "").partition("?")[0] for link in links}
        assert led <= menu, where


def test_a_selected_kernel_has_its_short_name(page: "Page") -> None:
    go(page, "timeline")
    box = page.get_by_role("searchbox", name="Find, then Enter")
    box.fill("AddFunctor")
    box.press("Enter")
    heading = page.locator("h2 .kernel")
    heading.wait_for()
    assert heading.get_attribute("title") == ELEMENTWISE.format("AddFunctor", "AddFunctor")
    assert heading.inner_text().startswith("vectorized_elementwise_kernel<4")
