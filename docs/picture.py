"""Takes pictures of reports with Chromium; run as a script, the README's, from a real run."""

import base64
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "summary.svg"
EXAMPLE = "examples/mnist_numpy/train.py"
WIDE, HIGH = 1280, 860  # of the README's picture
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--virtual-time-budget=4000",
)  # fmt: skip
COLOURS = 64  # enough for a page of text and bars: a picture of it takes some 50 KB


def screenshot(address: str, folder: Path, scale: float, size: tuple[int, int]) -> bytes:
    """The first screen of a page, as PNG."""
    chromium = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if chromium is None:
        sys.exit("Chromium is not here: install it, then try again.")
    target = folder / "picture.png"
    view = (f"--force-device-scale-factor={scale}", f"--window-size={size[0]},{size[1]}")
    subprocess.run(
        [chromium, *CHROMIUM, *view, f"--screenshot={target}", address],
        cwd=folder,
        capture_output=True,
        check=True,
        timeout=120,
    )
    return target.read_bytes()


def small_png(report: Path, page: str, folder: Path) -> bytes:
    """A page of a report, in few colours."""
    from PIL import Image

    data = screenshot(f"{report.resolve().as_uri()}#/{page}", folder, 1, (1180, 720))
    few = Image.open(io.BytesIO(data)).convert("RGB").quantize(COLOURS)
    out = io.BytesIO()
    few.save(out, "PNG", optimize=True)
    return out.getvalue()


def picture_of(run: Path, folder: Path) -> str:
    """An SVG that holds the screenshot: as sharp as the screen, in the size of the page."""
    png = screenshot((run / "report.html").resolve().as_uri(), folder, 1.5, (WIDE, HIGH))
    data = base64.b64encode(png).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" '
        f'height="{HIGH}"><title>The report of a run</title>'
        f'<image width="{WIDE}" height="{HIGH}" href="data:image/png;base64,{data}"/></svg>\n'
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")  # its paths in the page are short
        command = [sys.executable, "-m", "stepscope", "run", "--quiet", "-o", "run", EXAMPLE]
        subprocess.run(command, cwd=folder, check=True)
        PICTURE.write_text(picture_of(folder / "run", folder))
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
