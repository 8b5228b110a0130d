"""Takes screenshots of every page of the report, to be looked at: `make pictures`.

Records a training of every kind (NumPy, PyTorch with workers, Keras, Lightning, JAX, two ranks),
adds the traces that are given, and opens their reports in Chromium at two widths, light and dark.
What was recorded is kept in build/pictures/runs, and a kind that cannot run here is left out.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

ROOT: Final = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))  # has what starts the browser for the tests

from web.browser import started  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

INTO: Final = ROOT / "build" / "pictures"
PROGRAMS: Final = ROOT / "tests" / "programs"
RUNS: Final = {
    "numpy": [f"{ROOT}/examples/mnist_numpy/train.py"],
    "torch": [f"{ROOT}/examples/gan_torch/train.py", "--steps", "30"],
    "workers": [f"{PROGRAMS}/torch/input_slow_items.py", "2", "fork"],
    "keras": [f"{PROGRAMS}/keras/fit_dataset.py"],
    "lightning": [f"{PROGRAMS}/lightning/fit.py"],
    "jax": [f"{PROGRAMS}/jax/with_optax.py"],
    "ranks": ["torchrun", "--nproc-per-node=2", f"{PROGRAMS}/torch/ddp/train.py"],
}
WIDTHS: Final = (1280, 1920)
HEIGHT: Final = 900
SCHEMES: Final = ("light", "dark")
PATIENCE_S: Final = 300
SETTLED_MS: Final = 120  # canvases are drawn in the frame after
# The page scrolls inside of itself, where a picture of the whole page would not reach.
TALL = "() => Math.max(900, document.querySelector('.page')?.scrollHeight + 90 || 0)"
TALLEST: Final = 2400


def stepscope(*words: str) -> bool:
    """Whether it did what it was asked to."""
    command = [sys.executable, "-m", "stepscope", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode:
        print(f"left out: {' '.join(words)}\n{done.stderr[-400:]}")
    return done.returncode == 0


def reports(traces: list[Path], only: list[str]) -> dict[str, Path]:
    """By name; what is there is not recorded again, but its report is made anew."""
    found: dict[str, Path] = {}
    for name, words in RUNS.items():
        if only and name not in only:
            continue
        run = INTO / "runs" / name
        if run.exists() or stepscope("run", "--quiet", "-o", str(run), *words):
            found[name] = run
        else:
            shutil.rmtree(run, ignore_errors=True)  # or it would be taken for a good one next time
    for trace in traces:
        found[trace.name.split(".")[0]] = trace
    made = {name: INTO / f"{name}.html" for name in found}
    return {
        name: file
        for name, file in made.items()
        if stepscope("export", str(found[name]), "--to", "html", "-o", str(file))
    }


def pictures(browser: "Browser", report: Path, into: Path) -> int:
    """How many were taken."""
    into.mkdir(parents=True, exist_ok=True)
    taken = 0
    for width in WIDTHS:
        for scheme in SCHEMES:
            page = browser.new_page(
                viewport={"width": width, "height": HEIGHT},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page.goto(report.as_uri())
            page.wait_for_selector("html[data-ready]")
            for where in pages_of(page):
                take(page, where, width, into / f"{where}-{width}-{scheme}.png")
                taken += 1
            page.close()
    return taken


def pages_of(page: "Page") -> list[str]:
    """Those in the menu."""
    links: list[str] = page.locator(".side nav a").evaluate_all(
        "links => links.map((link) => link.hash.replace(/^#\\//, '').split('?')[0])"
    )
    return links


def take(page: "Page", where: str, width: int, file: Path) -> None:
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.evaluate("where => { location.hash = where }", f"#/{where}")
    page.wait_for_timeout(SETTLED_MS)
    height = min(TALLEST, int(page.evaluate(TALL)))
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_timeout(SETTLED_MS)
    file.write_bytes(page.screenshot())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python docs/pictures.py", description=__doc__)
    parser.add_argument("traces", nargs="*", type=Path, help="of torch, TensorFlow or JAX")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    asked = parser.parse_args()
    INTO.mkdir(parents=True, exist_ok=True)
    with started() as browser:
        for name, report in reports(asked.traces, asked.only).items():
            print(f"{name}: {pictures(browser, report, INTO / name)} pictures in {INTO / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
