"""The page's own code, built from `web/` together with the package."""

from pathlib import Path
from typing import Final, NamedTuple

from stepscope.errors import EnvironmentTrouble

FOLDER: Final = Path(__file__).parent / "bundle"
SCRIPT: Final = "report.js"
STYLE: Final = "report.css"
_MISSING: Final = (
    "The report's page was not built when stepscope was installed: Node 18 or newer was missing. "
    "Install a wheel of stepscope, or Node and then stepscope again ('pip install "
    "--force-reinstall --no-deps .'), or read the run with 'stepscope show'."
)


class Bundle(NamedTuple):
    script: str
    style: str


def is_built() -> bool:
    return (FOLDER / SCRIPT).is_file() and (FOLDER / STYLE).is_file()


def bundle() -> Bundle:
    try:
        return Bundle((FOLDER / SCRIPT).read_text("utf-8"), (FOLDER / STYLE).read_text("utf-8"))
    except OSError as error:
        raise EnvironmentTrouble(_MISSING) from error
