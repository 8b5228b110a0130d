"""The frameworks' watchers: one file per subject, loaded when the script imports the module.

Nothing here imports a framework: a file gets the module that the script has just loaded. Its
changes there go through `Patches`, so that stopping removes all of them.
"""

import sys
from collections.abc import Callable
from types import ModuleType

from stepscope.record.frameworks.watching import notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.signal_handlers import let_pass
from stepscope.typed import Final

ROOMS: Final = (
    "torch", "tensorflow", "keras", "jax", "lightning", "transformers", "trackers",
)  # fmt: skip


def _module(name: str) -> ModuleType:
    """Without `importlib`, which would load `warnings` too."""
    return __import__(f"{__name__}.{name}", fromlist=["*"])


def _watchers() -> dict[str, list[str]]:
    """Module that the script loads, to the files here that watch it."""
    found: dict[str, list[str]] = {}
    for room in ROOMS:
        watches = _module(room).WATCHES
        for module, files in watches.items():
            found.setdefault(module, []).extend(f"{room}.{file}" for file in files)
    return found


_WATCHERS: Final = _watchers()

_patches = Patches()
# What is done to a module before our own watchers see it, once.
_first: Final[dict[str, list[Callable[[ModuleType], object]]]] = {}
_installed: set[tuple[str, str]] = set()


def when_loaded(name: str, action: Callable[[ModuleType], object]) -> None:
    """Ahead of our own watchers of that module; to be called before the recording starts."""
    _first.setdefault(name, []).append(action)


def watched() -> frozenset[str]:
    return frozenset((*_WATCHERS, *_first))


def install(note: Callable[[str], object]) -> None:
    """Watch what is loaded already. `note`: where problems are reported."""
    notes.send_to(note)
    for name in watched():
        watch(name)


def watch(name: str) -> None:
    """Call this when the module `name` has been loaded; repeated or early calls do nothing."""
    module = sys.modules.get(name)
    if module is None or getattr(getattr(module, "__spec__", None), "_initializing", False):
        return
    for action in _first.pop(name, ()):
        action(module)
    for watcher in _WATCHERS.get(name, ()):
        if (name, watcher) not in _installed:
            _installed.add((name, watcher))
            _watch(watcher, name)


def _watch(watcher: str, name: str) -> None:
    """If a version of the framework lacks something, only the files that need it are skipped."""
    ours = _module(watcher)
    try:
        ours.install(sys.modules[name], _patches)
    except Exception as error:
        let_pass(error)
        notes.note(f"{name} is not watched completely ({watcher}: {error!r}).")


def uninstall() -> None:
    _patches.undo()
    _installed.clear()
