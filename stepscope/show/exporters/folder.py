"""The folder of an export with many files: written atomically, and never over other files."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from stepscope.errors import EnvironmentTrouble, InputError

MANIFEST: Final = "export.json"  # lists the files that the export wrote


def write_folder(path: str, files: Iterable[tuple[str, bytes]]) -> None:
    """Make `path`, or replace what an earlier export wrote there, with one rename at the end."""
    with _os_errors_explained(path):
        target = os.path.realpath(path)
        before = _ours_before(target, path)
        half = os.path.join(os.path.dirname(target), f".stepscope-{secrets.token_hex(4)}")
        os.mkdir(half)
    try:
        for name, content in files:
            with _os_errors_explained(path):
                os.makedirs(os.path.dirname(os.path.join(half, name)), exist_ok=True)
                with open(os.path.join(half, name), "xb") as file:
                    file.write(content)
        with _os_errors_explained(path):
            _put_in_place(half, target, before)
    finally:
        shutil.rmtree(half, ignore_errors=True)


@contextlib.contextmanager
def _os_errors_explained(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentTrouble(
            f"Cannot write '{path}': {error.strerror}. Name another folder with -o."
        ) from error


def _ours_before(target: str, path: str) -> list[str]:
    """The files of an earlier export in the folder; refuses if there are any other files."""
    if not os.path.lexists(target):
        return []
    if not os.path.isdir(target):
        raise InputError(f"'{path}' is a file, but this format is a folder. Name another with -o.")
    there = _names_below(target)
    ours = {*_files_in_manifest(os.path.join(target, MANIFEST)), MANIFEST}
    foreign = [name for name in there if name not in ours or not _is_file(target, name)]
    if foreign or (there and len(ours) == 1):
        raise InputError(
            f"'{path}' exists and holds a file that no export wrote ('{(foreign or there)[0]}'). "
            "Name another folder with -o."
        )
    return there


def _names_below(folder: str) -> list[str]:
    """Everything that is not a folder, named as in the manifest; and empty folders, which a
    manifest never names."""
    found = []
    for where, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(where, name))]
        inside = [os.path.relpath(os.path.join(where, name), folder) for name in [*links, *files]]
        found += (
            inside if inside or folders or where == folder else [os.path.relpath(where, folder)]
        )
    return sorted(name.replace(os.sep, "/") for name in found)


def _is_file(folder: str, name: str) -> bool:
    return os.path.isfile(os.path.join(folder, name))


def _files_in_manifest(path: str) -> list[str]:
    """Empty if it is missing or not ours."""
    try:
        with open(path, "rb") as file:
            manifest: Any = msgspec.json.decode(file.read())
    except (FileNotFoundError, IsADirectoryError, msgspec.MsgspecError, UnicodeDecodeError):
        return []
    is_ours = isinstance(manifest, dict) and manifest.get("exported_by") == "stepscope"
    rows = manifest.get("rows") if is_ours else None
    return list(rows) if isinstance(rows, dict) else []


def _put_in_place(half: str, target: str, before: list[str]) -> None:
    """Nothing can be renamed onto a folder that is not empty: the old one is moved aside first."""
    if not before:
        os.rename(half, target)
        return
    aside = f"{half}-before"
    os.rename(target, aside)
    try:
        os.rename(half, target)
    except OSError:
        os.rename(aside, target)
        raise
    for name in before:  # only what was checked
        os.unlink(os.path.join(aside, name))
    for where, _, _ in os.walk(aside, topdown=False):
        os.rmdir(where)
