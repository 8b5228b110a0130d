"""Where the script runs: in a copy of its folder, as it was before each run, or in place.

The working folder and the script's own are copied, without what no training reads (`.git`, virtual
environments, earlier runs, caches). Before each run the copy is put back: files that a run changed
are copied again, files that it made are removed. Paths elsewhere cannot be redirected.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from typing import Final, NamedTuple

from stepscope.errors import EnvironmentTrouble, InputError
from stepscope.launch.run_folder import DEFAULT_PARENT

LARGEST_BYTES: Final = 2**30
LARGEST_SHARE: Final = 0.1  # of the free space
_LEFT_OUT: Final = frozenset(
    {".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".nox", DEFAULT_PARENT}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints"}
)
_MARKS_OF_ENVIRONMENTS: Final = ("pyvenv.cfg", "conda-meta")
_FICLONE: Final = 0x40049409  # ioctl of Linux: both files share their blocks until one is written


class Place(NamedTuple):
    """Where one run happens."""

    folder: str  # the working folder
    arguments: list[str]  # the command line, with the paths that lead into the copy


class InPlace:
    """The script's own folder: what it writes stays there."""

    copied_from: Final[dict[str, str]] = {}

    def fresh(self, arguments: list[str]) -> Place:
        return Place(os.getcwd(), arguments)

    def is_inside(self, path: str) -> bool:
        return False

    def remove(self) -> None:
        return


class CopiedFolders:
    """Copies of `roots` below `where`."""

    def __init__(self, roots: list[str], where: str, most_bytes: int | None = None) -> None:
        self._where = where
        self._copies = {root: os.path.join(where, str(i)) for i, root in enumerate(roots)}
        self._known: dict[str, tuple[int, ...]] = {}  # each file of ours, as it was copied
        limit = _limit(where) if most_bytes is None else most_bytes
        _require_small(roots, limit)

    @property
    def copied_from(self) -> dict[str, str]:
        return {copy: root for root, copy in self._copies.items()}

    def fresh(self, arguments: list[str]) -> Place:
        """As before the first run."""
        try:
            for root, copy in self._copies.items():
                self._put_back(root, copy)
        except OSError as cause:
            raise EnvironmentTrouble(
                f"Cannot copy the script's folder: {cause.strerror or cause}. Add --in-place, and "
                "it runs where it is."
            ) from cause
        return Place(self._moved(os.getcwd()), [self._moved(word) for word in arguments])

    def is_inside(self, path: str) -> bool:
        """Links may lead out of it."""
        return _is_below(os.path.realpath(path), os.path.realpath(self._where))

    def remove(self) -> None:
        shutil.rmtree(self._where, ignore_errors=True)

    def _moved(self, word: str) -> str:
        """A path into a copied folder, or an option with one: `--out=/project/out`. A path below
        the working folder leads there by itself. What was left out, such as the interpreter of
        `.venv`, is only where it was."""
        before, equals, path = word.partition("=") if word.startswith("-") else ("", "", word)
        if os.path.isabs(path) or path.startswith(os.pardir + os.sep):
            full = os.path.abspath(path)
            for root, copy in self._copies.items():
                target = copy + full[len(root) :]
                is_left_out = os.path.lexists(full) and not os.path.lexists(target)
                if _is_below(full, root) and not is_left_out:
                    return before + equals + target
        return word

    def _put_back(self, root: str, copy: str) -> None:
        wanted = {copy}
        if (
            not self._known
        ):  # a link there, in a trial that is resumed, would lead to files to remove
            _remove(self._where)
        os.makedirs(self._where, mode=0o700, exist_ok=True)  # whatever may be read in the original
        os.makedirs(copy, exist_ok=True)
        for source in _entries(root):
            target = copy + source[len(root) :]
            wanted.add(target)
            if self._known.get(target) != _state(target):
                _copy(source, target, root)
            self._known[target] = _state(target)
        _remove_all_but(wanted, copy)


def roots_for(script: str | None) -> list[str]:
    """The folders to copy: the working folder and the script's, or the one that holds both."""
    found = {os.path.realpath(os.getcwd())}
    if script is not None:
        found.add(os.path.dirname(os.path.realpath(script)))
    return sorted(e for e in found if not any(_is_below(e, other) for other in found - {e}))


# --- copying --------------------------------------------------------------------------------------


def _entries(root: str) -> Iterator[str]:
    """Folders before what is in them."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(each for each in folders if _is_wanted(os.path.join(folder, each)))
        yield from (os.path.join(folder, each) for each in (*folders, *sorted(files)))


def _is_wanted(folder: str) -> bool:
    marks = (os.path.join(folder, mark) for mark in _MARKS_OF_ENVIRONMENTS)
    return os.path.basename(folder) not in _LEFT_OUT and not any(map(os.path.exists, marks))


def _state(path: str) -> tuple[int, ...]:
    """Changes when anything writes the file; nothing can set its last number."""
    try:
        found = os.lstat(path)
    except OSError:
        return ()
    if os.path.isdir(path) and not os.path.islink(path):
        return (found.st_mode,)
    return found.st_mode, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _copy(source: str, target: str, root: str) -> None:
    _remove(target)
    if os.path.islink(source):
        os.symlink(_target_of(source, root), target)
    elif os.path.isdir(source):
        os.mkdir(target)
    elif os.path.isfile(source):
        with contextlib.suppress(PermissionError):  # the script cannot read it either
            _copy_file(source, target)


def _target_of(link: str, root: str) -> str:
    """A link that leads out of the copy leads to the same place as before."""
    target = os.readlink(link)
    leads_to = os.path.normpath(os.path.join(os.path.dirname(link), target))
    return target if _is_below(leads_to, root) and not os.path.isabs(target) else leads_to


def _copy_file(source: str, target: str) -> None:
    with open(source, "rb") as file, open(target, "wb") as new:
        try:
            fcntl.ioctl(new.fileno(), _FICLONE, file.fileno())
        except OSError:  # a file system that cannot
            shutil.copyfileobj(file, new, 2**20)
    shutil.copystat(source, target)


def _remove_all_but(wanted: set[str], copy: str) -> None:
    for folder, folders, files in os.walk(copy):
        for each in (*folders, *files):
            path = os.path.join(folder, each)
            if path not in wanted:
                _remove(path)
        folders[:] = [each for each in folders if os.path.join(folder, each) in wanted]


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _is_below(path: str, folder: str) -> bool:
    return os.path.normpath(path) == folder or os.path.normpath(path).startswith(folder + os.sep)


# --- what is too large ----------------------------------------------------------------------------


def _limit(where: str) -> int:
    return min(LARGEST_BYTES, int(shutil.disk_usage(os.path.dirname(where)).free * LARGEST_SHARE))


def _require_small(roots: list[str], most_bytes: int) -> None:
    total = 0
    for root in roots:
        for path in _entries(root):
            total += _size(path)
            if total > most_bytes:
                raise InputError(
                    f"'{root}' is too large to run in a copy of it (more than "
                    f"{most_bytes / 2**20:,.0f} MB): add --in-place, and the script runs where it "
                    "is. Files that it writes are then written in every run."
                )


def _size(path: str) -> int:
    try:
        found = os.lstat(path)
    except OSError:
        return 0
    return found.st_size if not os.path.isdir(path) else 0
