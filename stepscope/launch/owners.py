"""The installed package behind a console command or `-m`: its code is what the user wants to see.

Unless it is itself a launcher: `torchrun train.py` and `-m pytest tests/test_x.py` name the user's
own file, and then the package stays a library.
"""

import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Sequence


def of_command(name: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """Folders of the package whose metadata lists the command."""
    if _names_a_script(arguments):
        return ()
    commands = importlib.metadata.entry_points(group="console_scripts", name=name)
    folders = {folder for command in commands for folder in package_folders(command.module)}
    return tuple(sorted(folders))


def of_module(module: str, arguments: Sequence[str]) -> tuple[str, ...]:
    if module.partition(".")[0] in sys.stdlib_module_names or _names_a_script(arguments):
        return ()
    return tuple(sorted(package_folders(module)))


def package_folders(module: str) -> list[str]:
    """Folders of the outermost package with its own code; a single file for a single module.
    Nothing is imported: only the import path is searched."""
    path: Sequence[str] | None = None
    name = ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = _find(name, path)
        if spec is None:
            return []
        if spec.origin and spec.has_location:
            is_package = spec.submodule_search_locations is not None
            return [os.path.dirname(spec.origin) if is_package else spec.origin]
        path = list(spec.submodule_search_locations or ())  # a namespace: look inside
    return []


def _find(name: str, path: Sequence[str] | None) -> importlib.machinery.ModuleSpec | None:
    try:
        if path is None:
            return importlib.util.find_spec(name)
        return importlib.machinery.PathFinder.find_spec(name, path)
    except (ImportError, ValueError, AttributeError):
        return None


def _names_a_script(arguments: Sequence[str]) -> bool:
    return any(word.endswith(".py") and os.path.isfile(word) for word in arguments)
