"""Makes what the documentation shows of real runs: the README's picture and every output block.

The picture is the first screen of a run's report, taken by Chromium. A block that follows
`<!-- output of: COMMAND -->` is replaced by what the command prints. Each page has a folder of its
own, with the examples in it, and its commands run there in their order.
"""

import base64
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "summary.svg"
PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md"]
WIDTH = 88
WIDE, HIGH = 1280, 860  # of the picture
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--force-device-scale-factor=1.5", "--virtual-time-budget=4000",
    f"--window-size={WIDE},{HIGH}",
)  # fmt: skip
BLOCK = re.compile(r"(<!-- output of: (?P<command>[^>]+) -->\n```text\n).*?(```)", re.DOTALL)


def workshop(folder: Path) -> None:
    """The examples, with their data, as a person would have them."""
    shutil.copytree(ROOT / "examples", folder / "examples")


def printed(command: str, folder: Path) -> str:
    words = shlex.split(command)
    assert words[0] == "stepscope"
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": str(WIDTH)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines()) + "\n"


def fill(page: Path, folder: Path) -> None:
    def replaced(match: re.Match[str]) -> str:
        return match[1] + printed(match["command"], folder) + match[3]

    page.write_text(BLOCK.sub(replaced, page.read_text()))


def screenshot(page: Path, folder: Path) -> bytes:
    """The first screen of an HTML file, as PNG."""
    chromium = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if chromium is None:
        sys.exit("Chromium is not here: install it, then 'make picture' again.")
    target = folder / "picture.png"
    subprocess.run(
        [chromium, *CHROMIUM, f"--screenshot={target}", page.resolve().as_uri()],
        cwd=folder,
        capture_output=True,
        check=True,
        timeout=120,
    )
    return target.read_bytes()


def picture_of(run: Path, folder: Path) -> str:
    """An SVG that holds the screenshot: as sharp as the screen, in the size of the page."""
    data = base64.b64encode(screenshot(run / "report.html", folder)).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" '
        f'height="{HIGH}"><title>The report of a run</title>'
        f'<image width="{WIDE}" height="{HIGH}" href="data:image/png;base64,{data}"/></svg>\n'
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        for page in PAGES:
            folder = Path(name) / page.stem
            workshop(folder)
            fill(page, folder)
        PICTURE.write_text(picture_of(folder / "stepscope-runs" / "slow", folder))
    print(f"wrote {PICTURE} and the outputs in {', '.join(page.name for page in PAGES)}")


if __name__ == "__main__":
    main()
