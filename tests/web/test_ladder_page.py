"""The page Try of a report in a real browser: what was kept, and why the rest was not."""

from pathlib import Path
from typing import TYPE_CHECKING

from build import run_of_steps
from show.test_ladder import BASELINE, FAILED, KEPT, SKIPPED
from stepscope.analyze.run import load
from stepscope.cli.report import write_page
from stepscope.model.trial import Noise, TrialAnswer
from stepscope.show.report.content import content
from web.browser import Watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ANSWER = TrialAnswer(
    folder="stepscope-runs/try-train", baseline=BASELINE, noise=Noise(low=0.97, high=1.04),
    rungs=[KEPT, SKIPPED, FAILED], together=None, runs=12, seconds=83.0, stopped=None, gained=2.0,
    step_seconds=20.0,
)  # fmt: skip
SHOWN = (
    "2.00×",
    "1 of 3",
    "83.0 s, of which 20.0 s in steps",
    "the script against itself: 0.970–1.04×",
    "identical in all 60 steps",
    "killed by SIGILL",
)
WIDEST = (
    "Math.max(...[...document.querySelectorAll('table')].map(t => t.getBoundingClientRect().right))"
)


def test_the_ladder_says_what_was_gained_and_fits_a_narrow_window(
    browser: "Browser", tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    write_page(str(path), content(load(run_of_steps(tmp_path / "run", 20)), trial=ANSWER))
    page = browser.new_page(viewport={"width": 800, "height": 900})
    watch = Watch(page, path.as_uri())
    page.goto(f"{path.as_uri()}#/try")
    page.get_by_text("To write by hand").wait_for()
    words = page.inner_text("main")
    assert [each for each in SHOWN if each not in words] == []
    assert page.evaluate(WIDEST) <= 800
    assert page.locator(".patch .added").all_inner_texts() == ["+b\n"]
    assert page.locator(".patch .removed").all_inner_texts() == ["-a\n"]
    watch.assert_quiet()
    page.close()
