"""What the exporters of stacks have in common: whose they are, and how a function is called."""

from typing import TYPE_CHECKING

from stepscope.errors import InputError

if TYPE_CHECKING:
    from stepscope.analyze.code.sampled_stacks import Seen, Stacks
    from stepscope.store.reader import Run
    from stepscope.store.records import FunctionName


def seen_threads(run: "Run", process: int | None) -> list[tuple["Stacks", "Seen"]]:
    """Each thread of the process with that pid, by default of the main one (or rank 0)."""
    from stepscope.analyze.code.sampled_stacks import Stacks
    from stepscope.analyze.code.stack_tree import NO_SAMPLES
    from stepscope.analyze.run import select

    chosen = select(run, process)
    found = Stacks(chosen) if chosen is not None else None
    threads = [(found, seen) for seen in found.by_thread()] if found is not None else []
    if not threads:
        raise InputError(f"'{run.path}' has no stacks to export. {NO_SAMPLES}")
    return sorted(threads, key=lambda pair: not pair[1].thread.main)


def function_label(run: "Run", function: "FunctionName") -> str:
    """`train (train.py:12)`; native functions have no place."""
    from stepscope.analyze.run import shown_path

    if function.native:
        return function.name
    return f"{function.name} ({shown_path(run, function.file)}:{function.line})"
