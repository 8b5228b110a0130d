"""Says what to install where the C core cannot be compiled."""

import os
import platform
import shlex
import shutil
import sys
import sysconfig
from typing import Final

# By the system's own names (ID and ID_LIKE of os-release): the compiler, and Python's headers.
_PACKAGES: Final = {
    "debian": ("apt-get install gcc libc6-dev", "apt-get install python3-dev"),
    "fedora": ("dnf install gcc", "dnf install python3-devel"),
    "suse": ("zypper install gcc", "zypper install python3-devel"),
    "arch": ("pacman -S gcc", "pacman -S python"),
    "alpine": ("apk add gcc musl-dev linux-headers", "apk add python3-dev"),
}
_MAC: Final = ("xcode-select --install", "xcode-select --install")
_ELSEWHERE: Final = ("install gcc or clang", "install the development package of this Python")


def what_is_missing() -> str | None:
    """In one sentence; None if both are there."""
    compiler = command()
    install_compiler, install_headers = _advice()
    if shutil.which(compiler) is None:
        return (
            f"stepscope has a part in C, and there is no C compiler here ('{compiler}' is not on "
            f"PATH). Get one, then install stepscope again: {install_compiler}"
        )
    headers = sysconfig.get_path("include")
    if not os.path.isfile(os.path.join(headers, "Python.h")):
        return (
            f"stepscope has a part in C, and the headers of this Python are not in '{headers}'. "
            f"Get them, then install stepscope again: {install_headers}"
        )
    return None


def command() -> str:
    """What setuptools will call."""
    words = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    return words[0] if words else "cc"


def _advice() -> tuple[str, str]:
    if sys.platform == "darwin":
        return _MAC
    return next((_PACKAGES[name] for name in _systems() if name in _PACKAGES), _ELSEWHERE)


def _systems() -> list[str]:
    """The distribution, then those that it is made from: 'linuxmint', 'ubuntu', 'debian'."""
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        return []
    return [facts.get("ID", ""), *facts.get("ID_LIKE", "").split()]
