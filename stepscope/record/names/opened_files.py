"""Which opened files are worth a record, and their names."""

import os

from stepscope.launch.secrets import mask_text
from stepscope.signal_handlers import suppressed
from stepscope.store.writer import Names
from stepscope.typed import Final

# Reading these is importing, not input.
CODE_ENDINGS: Final = (".py", ".pyc", ".pyi", ".so", ".pth", ".dist-info", ".egg-info")
SYSTEM_FOLDERS: Final = ("/proc/", "/sys/", "/dev/")
PATHS_AT_MOST: Final = 20_000  # with more, the files of a folder share one name


class OpenedFiles:
    """Gives opened files their names; a program may open a million of them."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: dict[tuple[str, int, int], int] = {}

    def name_of(self, path: str, code_id: int, line: int) -> int:
        """The id of kind "open", 0 for a file that is not recorded."""
        key = (path, code_id, line)
        number = self._known.get(key)
        if number is None:
            number = self._new_name(path, code_id, line)
            if len(self._known) < PATHS_AT_MOST:
                self._known[key] = number
        return number

    def _new_name(self, path: str, code_id: int, line: int) -> int:
        if not code_id or path.endswith(CODE_ENDINGS) or path.startswith(SYSTEM_FOLDERS):
            return 0
        if not path or path[0] == "<":
            return 0
        full = _full(mask_text(path) if "://" in path else path)  # a URL may hold a password
        if self._names.count("open") >= PATHS_AT_MOST:
            full = os.path.join(os.path.dirname(full), "*")
        return self._names.intern("open", path=full, code=code_id, line=line or None)


def _full(path: str) -> str:
    with suppressed(OSError):  # the working folder is gone
        return os.path.abspath(path)
    return path
