"""TensorFlow: what is watched in it, and what is not when it is too old."""

import collections
import importlib
import os
from typing import Any, Final

from stepscope.record.frameworks.tensorflow import dataset, eager, graph_functions, saving
from stepscope.record.frameworks.watching import notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.signal_handlers import let_pass

_OLDEST: Final = (2, 13)
_FRAMEWORKS: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def install(tensorflow: Any, patches: Patches) -> None:
    version = str(getattr(tensorflow, "__version__", "0"))
    if _numbers(version) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        notes.note(
            f"TensorFlow {version} is too old to be watched ({oldest} or later is needed): its "
            "steps are found by their loop, and they have no phases."
        )
        return
    for part in (_stay_out_of_stacks, eager.install, graph_functions.install, dataset.install,
                 saving.install):  # fmt: skip
        try:
            part(_python, patches)
        except Exception as error:  # if a version lacks something, only this watcher is skipped
            let_pass(error)
            notes.note(f"TensorFlow {version} is not watched completely: {error!r}.")


def _numbers(version: str) -> tuple[int, ...]:
    numbers = version.split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdecimal())


def _python(name: str) -> Any:
    """One of TensorFlow's own modules; all that we ask for are loaded with it."""
    return importlib.import_module(f"tensorflow.python.{name}")


def _stay_out_of_stacks(python: Any, patches: Patches) -> None:
    """TensorFlow keeps the stack at which an operation of a graph was made, for its messages. It
    leaves out the files in a list, thread by thread: we add ours."""
    stacks = python("util.tf_stack")
    ours = frozenset(
        os.path.join(folder, name)
        for folder, _, names in os.walk(_FRAMEWORKS)
        for name in names
        if name.endswith(".py")
    )

    def get_filtered_filenames(_self: Any) -> frozenset[str]:
        return ours

    def with_ours() -> list[Any]:
        sentinel = stacks.SentinelFilter()
        sentinel.update()
        return [sentinel]

    threads = stacks._source_filter_stacks
    before = threads.default_factory
    patches.on_undo(lambda: _refresh(threads))  # last of all: with the names that are valid then
    patches.set(stacks.SentinelFilter, "get_filtered_filenames", get_filtered_filenames)
    threads.default_factory = with_ours

    def put_back() -> None:
        threads.default_factory = before

    patches.on_undo(put_back)
    _refresh(threads)


def _refresh(threads: "collections.defaultdict[int, list[Any]]") -> None:
    for filters in list(threads.values()):
        filters[0].update()
