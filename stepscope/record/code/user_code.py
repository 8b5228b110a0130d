"""Which code is the user's own, and so has its lines recorded."""

import functools
import os
import sys
from collections.abc import Callable, Iterable

from stepscope.record.code.paths import exists, is_file, is_link, without_links
from stepscope.record.names import our_package
from stepscope.typed import Final

_INSTALLED: Final = ("site-packages", "dist-packages")
_GENERATED: Final = "__autograph_generated_file"  # TensorFlow's copies of the user's functions
_AND_BELOW: Final = ("", ".*")  # `torch.nn` stands for the module and everything below it


class UserCode:
    """Answers for file names as in code objects; answers are cached.

    The user's is a real file outside the standard library and site-packages, a notebook cell, and
    what `packages` (folders) and `include` (globs or module names) add; `exclude` takes away last.
    """

    def __init__(
        self,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        packages: Iterable[str] = (),
        run_folder: str | None = None,
    ) -> None:
        self._started_in = os.getcwd()  # for relative names, even after a chdir
        self._include = tuple(include)
        self._exclude = tuple(exclude)
        self._packages = _folders(packages)
        self._ours = _folders([our_package.FOLDER, *([run_folder] if run_folder else [])])
        self._standard = _folders(standard_library_folders())
        self._commands = _command_folder()
        self._known: dict[str, bool] = {}
        if self._include or self._exclude:
            _fnmatchcase()  # now: later the script's own fnmatch.py would be found

    def is_users(self, filename: str) -> bool:
        known = self._known.get(filename)
        if known is None:
            known = self._known[filename] = self._decide(filename)
        return known

    def _decide(self, filename: str) -> bool:
        if is_notebook_cell(filename):
            return not _matches(self._exclude, filename, self._started_in)
        if filename.startswith("<") or os.path.basename(filename).startswith(_GENERATED):
            return False
        path = os.path.normpath(os.path.join(self._started_in, filename))
        if _inside(path, self._ours) or not _is_real(path):
            return False
        if _matches(self._exclude, path, self._started_in):
            return False
        if _inside(path, self._packages) or _matches(self._include, path, self._started_in):
            return True
        return not self._is_installed(path)

    def _is_installed(self, path: str) -> bool:
        if os.path.dirname(path) == self._commands:
            return True  # the two lines that pip writes for a console command
        if _installed_at(path) is not None:
            return not _is_linked_package(path)
        real = without_links(path)
        return _inside(path, self._standard) or _inside(real, self._standard)


def is_notebook_cell(filename: str) -> bool:
    """IPython gives cells their own names: `<ipython-input-3-...>` or a file that does not exist,
    below a folder named after the kernel's process."""
    if filename.startswith("<ipython-input-"):
        return True
    return os.path.basename(os.path.dirname(filename)).startswith("ipykernel_")


def standard_library_folders() -> list[str]:
    """Without sysconfig: importing it takes milliseconds at every process start."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    prefixes = {sys.base_prefix, sys.base_exec_prefix}
    folders = {
        os.path.join(prefix, lib, version) for prefix in prefixes for lib in ("lib", sys.platlibdir)
    }
    return sorted(folders | {os.path.dirname(os.path.abspath(os.__file__))})


def _folders(paths: Iterable[str]) -> tuple[str, ...]:
    """Each as written and with links resolved, with a separator at the end."""
    both = {how(path) for path in paths for how in (os.path.abspath, without_links)}
    return tuple(sorted(path.rstrip(os.sep) + os.sep for path in both))


def _inside(path: str, folders: tuple[str, ...]) -> bool:
    """Below one of the folders, or one of them itself if a package is a single file."""
    return (path + os.sep).startswith(folders)


def _command_folder() -> str | None:
    """The folder of a virtual environment's commands; other such folders also have users' own."""
    if sys.prefix == sys.base_prefix:
        return None
    return os.path.join(os.path.abspath(sys.prefix), "bin")


def _is_real(path: str) -> bool:
    """A file, or a member of an archive that Python imports from (`app.zip/pkg/train.py`)."""
    if is_file(path):
        return True
    while not exists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return is_file(path)


def _installed_at(path: str) -> int | None:
    """Position, among the path's parts, of the first one below site-packages."""
    parts = path.split(os.sep)
    found = [index + 1 for index, part in enumerate(parts[:-1]) if part in _INSTALLED]
    return found[-1] if found else None


def _is_linked_package(path: str) -> bool:
    """An editable install that links its folder into site-packages. Links to single files are how
    some installers save space, so those do not count."""
    first = _installed_at(path)
    parts = path.split(os.sep)
    if first is None or first >= len(parts) - 1:
        return False
    top = os.sep.join(parts[: first + 1])
    return is_link(top) and _installed_at(os.path.join(without_links(top), "x")) is None


@functools.cache
def _fnmatchcase() -> Callable[[str, str], bool]:
    """Imports `re`, some 5 ms: only runs that need it pay."""
    from fnmatch import fnmatchcase

    return fnmatchcase


def _matches(patterns: tuple[str, ...], path: str, started_in: str) -> bool:
    """By whole path, by path from where the run started, by base name, or by module name."""
    if not patterns:
        return False
    fnmatchcase = _fnmatchcase()
    names = (path, os.path.relpath(path, started_in), os.path.basename(path))
    modules = module_names(path)
    return any(
        any(fnmatchcase(name, pattern) for name in names)
        or any(fnmatchcase(name, pattern + end) for name in modules for end in _AND_BELOW)
        for pattern in patterns
    )


def module_names(path: str) -> list[str]:
    """The dotted names under which the file can be imported, by its path."""
    first = _installed_at(path)
    if first is not None:
        inner = [os.sep.join(path.split(os.sep)[first:])]
    else:
        roots = {os.path.abspath(entry).rstrip(os.sep) + os.sep for entry in sys.path}
        inner = [path.removeprefix(root) for root in sorted(roots) if path.startswith(root)]
    dotted = [os.path.splitext(name)[0].replace(os.sep, ".") for name in inner]
    return [name.removesuffix(".__init__") for name in dotted]
