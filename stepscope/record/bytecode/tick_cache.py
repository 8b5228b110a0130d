"""Keeps on disk where ticks go in each code object: finding out takes about 1 ms per function."""

import os
import stat
from _frozen_importlib_external import MAGIC_NUMBER

# hashlib loads all of OpenSSL, and pathlib half of urllib: 10 ms in every recorded process.
from _sha256 import sha256  # type: ignore[import-not-found]  # it has no stub
from marshal import dumps, loads  # now: later the module's functions hide ticks
from types import CodeType

from stepscope.record.bytecode.ticked import Instrumented, Rewritten, rebuild, untouched
from stepscope.signal_handlers import let_pass, suppressed
from stepscope.store.plain_files import make_new_folder, remove
from stepscope.typed import Final

BYTES_AT_MOST: Final = 64 * 2**20  # of all versions together
_HEADER: Final = b"stepscope ticks\n"
_HASH_BYTES: Final = 32  # of SHA-256
_DECIDES: Final = (
    *("instrument.py", "line_starts.py", "assemble.py"),
    *("bare_copy.py", "ticked.py", "tick_cache.py"),
)
_pruned: set[str] = set()
_version: str | None = None
AnyPath = str | os.PathLike[str]


def instrument_cached(code: CodeType, folder: AnyPath | None = None) -> Instrumented:
    """Like `instrument`, from the cache if it is there. File errors are never raised."""
    folder = folder or default_folder()
    key = _key(code)
    if folder is None or key is None:
        return _instrumented(code)
    file = os.path.join(folder, key)
    kept = _load(file)
    if kept is not None:
        return Instrumented(code, rebuild(code, kept), kept)
    made = _instrumented(code)
    if not made.skipped:  # failures are not cached: another version may succeed
        _store(file, made.rewritten)
    return made


def load_the_rewriter() -> None:
    """What writes ticks is loaded with the first code that is not in the cache; by this before the
    script begins, where modules of the script, or modules being recorded, could be in its way."""
    with suppressed(ImportError):
        from stepscope.record.bytecode import instrument  # noqa: F401


def _instrumented(code: CodeType) -> Instrumented:
    """Loaded when first needed: it takes 10 ms, and code that ran before is in the cache."""
    try:
        from stepscope.record.bytecode.instrument import instrument
    except ImportError as error:  # no `bytecode`, or a module of the script has a standard name
        let_pass(error)
        return Instrumented(code, code, untouched(()), (f"{code.co_qualname}: {error}",))
    return instrument(code)


def default_folder() -> str | None:
    """None when there is no place for a cache."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.expanduser("~/.cache")
    version = _our_version()
    if not os.path.isabs(home) or version is None:
        return None
    magic = MAGIC_NUMBER.hex()
    return os.path.join(home, "stepscope", f"ticks-{magic}-{version}")


def _our_version() -> str | None:
    """A fingerprint of everything that decides where ticks go and how that is stored, instead of a
    version number to increment by hand."""
    global _version
    if _version is None:
        digest = sha256()
        try:
            for name in _DECIDES:
                with open(os.path.join(os.path.dirname(__file__), name), "rb") as opened:
                    digest.update(opened.read())
        except OSError as error:
            let_pass(error)
            return None
        _version = str(digest.hexdigest()[:16])
    return _version


def _key(code: CodeType) -> str | None:
    """None when the program has put constants into its code that marshal cannot write.

    Version 2 of marshal: the output of later ones depends on other references to a constant."""
    try:
        content = dumps(code, 2)
    except ValueError:
        return None
    name = code.co_filename.encode("utf-8", "replace")
    return str(sha256(name + content).hexdigest())


def _load(file: str) -> Rewritten | None:
    """Only a file that we alone can write, and whose content matches its hash, is used."""
    try:
        with open(file, "rb") as opened:
            status = os.fstat(opened.fileno())
            content = opened.read()
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o022:
            return None
        os.utime(file)  # the least recently used go first
    except OSError as error:
        let_pass(error)
        return None
    payload = content[len(_HEADER) + _HASH_BYTES :]
    if content[: -len(payload) or None] != _HEADER + sha256(payload).digest():
        return None
    rewritten: Rewritten
    name, rewritten = loads(payload)
    return (
        rewritten if name == os.path.basename(file) else None
    )  # else: it was stored under another key


def _store(file: str, rewritten: Rewritten) -> None:
    folder, name = os.path.split(file)
    payload = dumps((name, rewritten))
    unfinished = f"{file}.{os.getpid()}.new"
    try:
        with suppressed(FileExistsError):
            make_new_folder(folder, 0o700)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as opened:
            opened.write(_HEADER + sha256(payload).digest() + payload)
        os.replace(unfinished, file)
        _prune(folder)
    except OSError as error:
        remove(unfinished)
        let_pass(error)


def _prune(folder: str) -> None:
    """Once per process: keep the files of all versions together under the limit."""
    if folder in _pruned:
        return
    _pruned.add(folder)
    prune(os.path.dirname(folder))


def prune(parent: AnyPath, bytes_at_most: int = BYTES_AT_MOST) -> None:
    files = []
    for folder in os.listdir(parent):
        inside = os.scandir(os.path.join(parent, folder)) if folder.startswith("ticks-") else ()
        for entry in inside:
            status = entry.stat()
            files.append((status.st_mtime_ns, status.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    for _, size, file in sorted(files):
        if total <= bytes_at_most:
            return
        with suppressed(FileNotFoundError):
            os.unlink(file)
        total -= size
