"""Makes the README's picture: the summary of a real run of the example, drawn by rich as SVG."""

import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from stepscope.cli.show import Request, ask, page_of

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "summary.svg"
SCRIPT = "examples/mnist_numpy/train.py"
WIDTH = 92


def recorded(folder: Path) -> Path:
    run = folder / "stepscope-runs" / "train"
    command = [sys.executable, "-m", "stepscope", "run", "--quiet", "-o", str(run), SCRIPT]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return run


def picture_of(run: Path) -> str:
    request = Request(
        run=str(run),
        view="summary",
        as_json=False,
        top=None,
        sort=None,
        process=None,
        rank=None,
        functions=(),
        files=(),
        unit_s=None,
        each=False,
    )
    console = Console(record=True, width=WIDTH, highlight=False, markup=False, file=sys.stderr)
    console.print(page_of(ask(request), request))
    return console.export_svg(title=f"stepscope run {SCRIPT}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        PICTURE.write_text(picture_of(recorded(Path(folder))))
    print(f"wrote {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
