"""What is read from files, kept as long as the files stay the same."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from stepscope.signal_handlers import let_pass
from stepscope.trial.fixes.inside.kept_values import KeptValue

_Stamp = tuple[int, int, int]


class KeptFiles:
    """By what was asked for. `most_bytes`: more than that is not kept."""

    def __init__(self, most_bytes: int, on_reuse: Callable[[], object]) -> None:
        self._left_bytes = most_bytes
        self._on_reuse = on_reuse
        self._kept: dict[Any, tuple[dict[str, _Stamp], KeptValue]] = {}

    def get(self, key: Any, files: Callable[[], list[str]], read: Callable[[], Any]) -> Any:
        """`files`: the files behind it, asked for after reading."""
        stamps, value = self._kept.get(key, (None, None))
        if stamps is not None and value is not None and stamps == _stamps(stamps):
            self._on_reuse()
            return value.hand_out(read)
        new = read()
        self._keep(key, _stamps(files()), KeptValue(new))
        return new

    def _keep(self, key: Any, stamps: dict[str, _Stamp] | None, value: KeptValue) -> None:
        if stamps and value.can_be_kept and value.size_bytes <= self._left_bytes:
            self._left_bytes -= value.size_bytes
            self._kept[key] = stamps, value

    def were_changed(self) -> bool:
        return any(value.was_changed() for _, value in self._kept.values())


def _stamps(paths: Iterable[str]) -> dict[str, _Stamp] | None:
    """None if one of them is gone, or is no file that stays as it is."""
    try:
        found = {path: os.stat(path) for path in paths}
    except OSError as error:
        let_pass(error)
        return None
    return {path: (each.st_mtime_ns, each.st_size, each.st_ino) for path, each in found.items()}
