"""Opens the files of a run folder without following links: the folder may be somebody else's.

How the folder itself is reached is the user's choice; what lies in it is data. A link in it could
have us read or overwrite any of the user's files, and a pipe would keep us waiting for ever.
Standard library only: the recorded process uses this too.
"""

import errno
import io
import os
import stat
from collections.abc import Callable

from stepscope.signal_handlers import let_pass, suppressed
from stepscope.typed import Final

_FLAGS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

AnyPath = str | os.PathLike[str]


def open_plain(path: AnyPath, *, depth: int = 1) -> io.BufferedReader:
    """To read. The last `depth` names of `path` are those inside the run: none may be a link."""
    return open(_descriptor(path, os.O_RDONLY, depth), "rb")


def read_plain(path: AnyPath, *, depth: int = 1) -> bytes:
    with open_plain(path, depth=depth) as file:
        return file.read()


def append_plain(path: AnyPath, content: bytes) -> None:
    """In one call, so that what several processes append does not mix."""
    descriptor = _descriptor(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 1)
    with open(descriptor, "ab", buffering=0) as file:
        file.write(content)


def new_file(path: AnyPath, mode: int = 0o666) -> io.BufferedWriter:
    """A file that nobody made before us. What lies there is removed, and a link is not followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS
    try:
        return open(os.open(path, flags, mode), "wb")
    except FileExistsError:
        os.unlink(path)
        return open(os.open(path, flags, mode), "wb")


def replace_plain(path: AnyPath, content: bytes, mode: int = 0o666) -> None:
    """In one step: readers see the old text or the new one."""
    half = f"{os.fspath(path)}.{os.getpid()}"
    try:
        with new_file(half, mode) as file:
            file.write(content)
        os.replace(half, path)
    except OSError:
        remove(half)
        raise


def remove(path: AnyPath) -> None:
    """If it is there and may be removed."""
    with suppressed(OSError):
        os.unlink(path)


def make_new_folder(path: AnyPath, mode: int = 0o777) -> None:
    """With those above it; raises FileExistsError."""
    try:
        os.mkdir(path, mode)
    except FileNotFoundError:
        with suppressed(FileExistsError):  # another process made it just now
            make_new_folder(os.path.dirname(path))
        os.mkdir(path, mode)


def make_folder(path: AnyPath, mode: int = 0o777) -> None:
    """Make it if it is not there; raises OSError if a link has its name."""
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        if not is_folder(path):
            raise _is_link(path) from None


def share_no_more(folder: AnyPath, source_mode: int) -> None:
    """A run is as private as the most private file whose text it holds: that text is also in its
    report and tables. Whoever cannot read the original cannot enter the folder."""
    hidden = 0 if source_mode & stat.S_IRGRP else stat.S_IRWXG
    hidden |= 0 if source_mode & stat.S_IROTH else stat.S_IRWXO
    mode = os.stat(folder).st_mode
    if mode & hidden:
        os.chmod(folder, stat.S_IMODE(mode & ~hidden))


def is_folder(path: AnyPath) -> bool:
    """And not a link to one."""
    return _is(stat.S_ISDIR, path)


def is_file(path: AnyPath) -> bool:
    """And not a link to one, a pipe or a device."""
    return _is(stat.S_ISREG, path)


def exists(path: AnyPath) -> bool:
    """Also a link that leads nowhere."""
    return _is(bool, path)


def _is(kind: Callable[[int], bool], path: AnyPath) -> bool:
    with suppressed(OSError):
        return kind(os.lstat(path).st_mode)
    return False


def _descriptor(path: AnyPath, flags: int, depth: int) -> int:
    try:
        descriptor = _opened(os.fspath(path), flags | _FLAGS, depth)
    except OSError as error:
        let_pass(error)
        # A folder that is a link is no folder to the system.
        is_link = error.errno in (errno.ELOOP, errno.ENOTDIR if depth > 1 else errno.ELOOP)
        raise (_is_link(path) if is_link else error) from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a plain file", os.fspath(path))


def _opened(path: str, flags: int, depth: int) -> int:
    """Folder by folder: a name that is checked first may be another file when it is opened."""
    if depth == 1:
        return os.open(path, flags, 0o666)
    names = path.split(os.sep)[-depth:]
    outside = path[: -len(os.sep.join(names))]
    folder = os.open(outside or os.curdir, _FOLDER)
    try:
        for name in names[:-1]:
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(names[-1], flags, 0o666, dir_fd=folder)
    finally:
        os.close(folder)


def _is_link(path: AnyPath) -> OSError:
    return OSError(errno.ELOOP, "links in a run folder are not followed", os.fspath(path))
