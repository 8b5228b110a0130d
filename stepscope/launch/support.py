"""Where stepscope can record at all."""

import sys
import sysconfig
from typing import Final

from stepscope.errors import EnvironmentTrouble

OLDEST: Final = (3, 11)
NEWEST: Final = (3, 14)  # that the tests run on


def require_supported() -> None:
    if sys.platform == "win32":
        raise EnvironmentTrouble(
            "stepscope does not run on Windows: use it inside WSL, the Windows Subsystem for Linux."
        )
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise EnvironmentTrouble(
            "This Python is a free-threaded build, which stepscope cannot record yet: "
            f"use a Python {dotted(OLDEST)} to {dotted(NEWEST)} with the GIL."
        )


def untested_python(version: tuple[int, ...] = sys.version_info[:2]) -> str | None:
    """What to say before it records on a Python that came after us."""
    if version <= NEWEST:
        return None
    return (
        f"Python {dotted(version)} is newer than what stepscope was tested on "
        f"({dotted(OLDEST)} to {dotted(NEWEST)}): some of what it records may be missing."
    )


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
