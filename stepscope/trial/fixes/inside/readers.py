"""Library functions that read a whole file: what they return is kept while one of the user's
functions asks for it."""

import collections.abc
import functools
import os
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Final

from stepscope.record.frameworks.watching.patches import Patches
from stepscope.trial.fixes.inside.argument_keys import argument_key
from stepscope.trial.fixes.inside.kept_files import KeptFiles

READERS: Final[dict[str, tuple[str, ...]]] = {
    "json": ("load",),
    "numpy": ("load", "loadtxt", "genfromtxt"),
    "pandas": ("read_csv", "read_parquet", "read_json", "read_pickle"),
    "pickle": ("load",),
    "torch": ("load",),
}
Read = Callable[[], Any]


class Asking:
    """Whether this thread is inside the user's function: everybody else reads as always."""

    def __init__(self) -> None:
        self._inside = threading.local()

    def __bool__(self) -> bool:
        return getattr(self._inside, "depth", 0) > 0

    def __enter__(self) -> None:
        self._inside.depth = getattr(self._inside, "depth", 0) + 1

    def __exit__(self, *_error: object) -> None:
        self._inside.depth -= 1


def keep(module: ModuleType, patches: Patches, kept: KeptFiles, asking: Asking) -> None:
    for name in READERS[module.__name__]:
        function = vars(module).get(name)
        if callable(function):
            patches.set(module, name, _keeping(function, kept, asking))


def _keeping(function: Callable[..., Any], kept: KeptFiles, asking: Asking) -> Callable[..., Any]:
    @functools.wraps(function)
    def read(*args: Any, **kwargs: Any) -> Any:
        again = functools.partial(function, *args, **kwargs)
        path = _path(args[0]) if args and asking else None
        how = argument_key((args[1:], kwargs))
        if path is None or how is None:
            return again()
        is_open = hasattr(args[0], "seek")
        if not is_open:
            again = functools.partial(_with_open_archive, again, path, kept)
            return kept.get((function, path, how), lambda: [path], again)
        again = functools.partial(_with_end, again, args[0])
        value, end = kept.get((function, path, how), lambda: [path], again)
        args[0].seek(end)
        return value

    return read


def _path(source: Any) -> str | None:
    """Of a path, or of an open file that nothing was read from yet."""
    if isinstance(source, str | os.PathLike):
        return os.path.abspath(os.fspath(source))
    name = getattr(source, "name", None)
    if not isinstance(name, str) or not hasattr(source, "seek") or source.tell() != 0:
        return None
    return os.path.abspath(name)


def _with_end(read: Read, file: Any) -> tuple[Any, int]:
    """With where the file stands then: a script that reads on gets what follows."""
    file.seek(0)
    return read(), file.tell()


def _with_open_archive(read: Read, path: str, kept: KeptFiles) -> Any:
    value = read()
    return Archive(value, path, kept) if type(value).__name__ == "NpzFile" else value


class Archive(collections.abc.Mapping[str, Any]):
    """An .npz as NumPy opens it, which unpacks each of its arrays once. It stays open."""

    def __init__(self, archive: Any, path: str, kept: KeptFiles) -> None:
        self._archive, self._path, self._kept = archive, path, kept
        self.files = archive.files

    def __getitem__(self, name: str) -> Any:
        key = Archive, self._path, name
        return self._kept.get(key, lambda: [self._path], lambda: self._archive[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._archive, name)

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_error: object) -> None: ...

    def close(self) -> None: ...

    def __reduce__(self) -> Any:
        """For comparing only: nobody can write into the archive itself."""
        return str, (self._path,)
