"""What every importer can do, and the list in which importers register."""

import abc
import functools
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Final

import stepscope.importers as folder
from stepscope.errors import DataError, NotATrace
from stepscope.importers.causes import Causes
from stepscope.importers.collectives import Collective
from stepscope.importers.trace import LentShapes, Trace
from stepscope.importers.unzip import read_head
from stepscope.importers.written_events import Written, events_of


class Importer(abc.ABC):
    """One format. What only some formats have is None for the others."""

    label: ClassVar[str]  # "torch.profiler's JSON"
    endings: ClassVar[tuple[str, ...]]  # of its files' names, zipped ones too
    is_general: ClassVar[bool] = False  # takes what has its endings and nobody else recognises
    is_beside: ClassVar[bool] = False  # adds to the trace beside it, and is none itself

    @abc.abstractmethod
    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins like this, unzipped, is of this format."""

    @abc.abstractmethod
    def read(self, path: Path) -> Trace:
        """The whole trace; raises DataError if nothing can be read."""

    def causes(self, path: Path) -> Causes | None:
        """Which event caused which."""
        return None

    def collectives(self, path: Path) -> list[Collective]:
        """What it says about each collective, beyond the kernel's name."""
        return []

    def written_events(self, trace: Trace) -> Iterator[Written]:
        """Its events with everything the file says about them, in Kineto's form."""
        return events_of(trace)

    def calls(self, path: Path) -> Mapping[int, int]:
        """The number of the operator's call by the external id of its event, if it has one."""
        return {}

    def lent_shapes(self, path: Path) -> LentShapes:
        """What it adds to the trace beside it; raises DataError if it cannot be read."""
        return LentShapes(None, {})

    def profile(self, path: Path) -> bytes | None:
        """The file as TensorBoard's profile plugin reads it."""
        return None


_HEAD_BYTES: Final = 2**16  # before their events, traces list devices and threads
_entered: list[Importer] = []


def register(importer: type[Importer]) -> type[Importer]:
    _entered.append(importer())
    return importer


def importers() -> list[Importer]:
    _load_all()
    return list(_entered)


@functools.cache
def _load_all() -> None:
    """Each folder beside this file is a format; its `importer` module registers it here."""
    for each in pkgutil.iter_modules(folder.__path__):
        if each.ispkg:
            importlib.import_module(f"{folder.__name__}.{each.name}.importer")


def endings() -> tuple[str, ...]:
    """The name endings of files that look like traces."""
    return tuple(ending for each in importers() for ending in each.endings)


def importer_of(path: Path) -> Importer:
    """By the file's name; if that does not decide, by its first bytes."""
    every = importers()
    named = [each for each in every if path.name.endswith(each.endings)]
    if len(named) == 1:
        return named[0]
    head = read_head(path, _HEAD_BYTES)
    special_first = sorted(named or every, key=lambda each: each.is_general)
    found = next((each for each in special_first if each.recognises(head)), None)
    if found is None:
        found = next((each for each in named if each.is_general), None)
    if found is None:
        tried = ", ".join(f"{each.label} ({', '.join(each.endings)})" for each in every)
        raise NotATrace(f"'{path}' is not a readable trace. Tried: {tried}.")
    return found


def is_beside(path: Path) -> bool:
    """Whether it only adds to another file; what cannot be read does not."""
    try:
        return importer_of(path).is_beside
    except DataError:
        return False
