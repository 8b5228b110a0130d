"""Makes what the documentation shows of real runs: the README's picture and every output block.

A block that follows `<!-- output of: COMMAND -->` is replaced by what the command prints. Each page
has a folder of its own, with the examples in it, and its commands run there in their order.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from stepscope.cli.show import Request, ask, page_of

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "summary.svg"
PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md"]
WIDTH = 88
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
    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=WIDTH, highlight=False, markup=False, file=nowhere)
        console.print(page_of(ask(request), request))
    return console.export_svg(title="stepscope run train.py")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        for page in PAGES:
            folder = Path(name) / page.stem
            workshop(folder)
            fill(page, folder)
        os.chdir(folder)  # places in the source are told as seen from here
        PICTURE.write_text(picture_of(Path("stepscope-runs") / "slow"))
    print(f"wrote {PICTURE} and the outputs in {', '.join(page.name for page in PAGES)}")


if __name__ == "__main__":
    main()
