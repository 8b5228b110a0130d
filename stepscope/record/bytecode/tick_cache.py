"""Keeps on disk where ticks go in each code object: finding out takes about 1 ms per function."""

import contextlib
import hashlib
import importlib.util
import os
import stat
from marshal import dumps, loads  # now: later the module's functions hide ticks
from pathlib import Path
from types import CodeType
from typing import Final

from stepscope.record.bytecode import assemble, bare_copy, line_starts
from stepscope.record.bytecode import instrument as instrumenter
from stepscope.record.bytecode.instrument import Instrumented, Rewritten, instrument, rebuild

BYTES_AT_MOST: Final = 64 * 2**20
_HEADER: Final = b"stepscope ticks\n"
_HASH_BYTES: Final = 32
_pruned: set[Path] = set()
_version: str | None = None


def instrument_cached(code: CodeType, folder: Path | None = None) -> Instrumented:
    """Like `instrument`, from the cache if it is there. File errors are never raised."""
    folder = folder or default_folder()
    key = _key(code)
    if folder is None or key is None:
        return instrument(code)
    file = folder / key
    kept = _load(file)
    if kept is not None:
        return Instrumented(code, rebuild(code, kept), kept)
    made = instrument(code)
    if not made.skipped:  # failures are not cached: another version may succeed
        _store(file, made.rewritten)
    return made


def default_folder() -> Path | None:
    """None when there is no place for a cache."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.expanduser("~/.cache")
    version = _our_version()
    if not os.path.isabs(home) or version is None:
        return None
    magic = importlib.util.MAGIC_NUMBER.hex()
    return Path(home) / "stepscope" / f"ticks-{magic}-{version}"


def _our_version() -> str | None:
    """A fingerprint of everything that decides where ticks go and how that is stored, instead of a
    version number to increment by hand."""
    global _version
    if _version is None:
        digest = hashlib.sha256()
        try:
            for file in (
                *(instrumenter.__file__, line_starts.__file__, assemble.__file__),
                *(bare_copy.__file__, __file__),
            ):
                digest.update(Path(file).read_bytes())
        except OSError:
            return None
        _version = digest.hexdigest()[:16]
    return _version


def _key(code: CodeType) -> str | None:
    """None when the program has put constants into its code that marshal cannot write.

    Version 2 of marshal: the output of later ones depends on other references to a constant."""
    try:
        content = dumps(code, 2)
    except ValueError:
        return None
    return hashlib.sha256(code.co_filename.encode("utf-8", "replace") + content).hexdigest()


def _load(file: Path) -> Rewritten | None:
    """Only a file that we alone can write, and whose content matches its hash, is used."""
    try:
        with open(file, "rb") as opened:
            status = os.fstat(opened.fileno())
            content = opened.read()
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o022:
            return None
        os.utime(file)  # the least recently used go first
    except OSError:
        return None
    payload = content[len(_HEADER) + _HASH_BYTES :]
    if content[: -len(payload) or None] != _HEADER + hashlib.sha256(payload).digest():
        return None
    rewritten: Rewritten
    name, rewritten = loads(payload)
    return rewritten if name == file.name else None  # else: it was stored under another key


def _store(file: Path, rewritten: Rewritten) -> None:
    payload = dumps((file.name, rewritten))
    unfinished = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as opened:
            opened.write(_HEADER + hashlib.sha256(payload).digest() + payload)
        os.replace(unfinished, file)
        _prune(file.parent)
    except OSError:
        with contextlib.suppress(OSError):
            unfinished.unlink()


def _prune(folder: Path) -> None:
    """Once per process: keep the files of all versions together under the limit."""
    if folder in _pruned:
        return
    _pruned.add(folder)
    prune(folder.parent)


def prune(parent: Path, bytes_at_most: int = BYTES_AT_MOST) -> None:
    files = []
    for file in parent.glob("ticks-*/*"):
        status = file.stat()
        files.append((status.st_mtime_ns, status.st_size, file))
    total = sum(size for _, size, _ in files)
    for _, size, file in sorted(files):
        if total <= bytes_at_most:
            return
        file.unlink(missing_ok=True)
        total -= size
