"""The report's page: bundled from web/ into the package, once for each state of its source."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from building import node

ROOT: Final = Path(__file__).parents[1]
WEB: Final = ROOT / "web"
BUNDLE: Final = ROOT / "stepscope" / "show" / "report" / "bundle"
MADE_FROM: Final = BUNDLE / "made-from.txt"
_NPM_CI: Final = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
_PATIENCE_S: Final = 300
_NO_NODE: Final = (
    f"there is no Node {node.OLDEST} or newer with npm: the report's page is not built"
)


def is_wanted() -> bool:
    """Not where somebody says so, where its source is missing, or where it is up to date."""
    if os.environ.get("STEPSCOPE_PAGE") == "off" or not (WEB / "package.json").is_file():
        return False
    return not (MADE_FROM.is_file() and MADE_FROM.read_text().strip() == _fingerprint())


def build() -> None:
    """A failure is printed and changes nothing: the package works without its page."""
    if not is_wanted():
        return
    found = node.find()
    if found is None:
        _say(_NO_NODE)
        return
    try:
        _bundle(found)
    except (OSError, subprocess.SubprocessError) as error:
        _say(f"the report's page was not built: {error}")


def _bundle(found: node.Node) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for command in ((*found.npm, *_NPM_CI), (*found.node, "build.mjs", folder)):
            subprocess.run(command, cwd=WEB, check=True, timeout=_PATIENCE_S)
        BUNDLE.mkdir(exist_ok=True)
        for name in ("report.js", "report.css"):
            shutil.copyfile(Path(folder) / name, BUNDLE / f".{name}")
            (BUNDLE / f".{name}").replace(BUNDLE / name)
    MADE_FROM.write_text(_fingerprint() + "\n")


def _fingerprint() -> str:
    """A hash of everything that the bundle is made from."""
    files = [*WEB.glob("*.json"), *WEB.glob("*.mjs"), *(WEB / "src").rglob("*")]
    digest = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file()):
        digest.update(path.relative_to(WEB).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _say(words: str) -> None:
    print(f"stepscope: {words}", file=sys.stderr)
