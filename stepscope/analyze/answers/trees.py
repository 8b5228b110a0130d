"""Call trees to be drawn: from samples, and from calls if all were counted."""

from collections.abc import Iterator

import numpy as np

from stepscope.analyze.code.counted_trees import CountedTrees, least_time
from stepscope.analyze.code.function_numbers import FunctionNumbers
from stepscope.analyze.code.imports import is_import_machinery
from stepscope.analyze.code.stack_tree import stacks
from stepscope.model import StackRow, ThreadStacks
from stepscope.model.page import Tree
from stepscope.store.reader import Run


def trees(run: Run, numbers: FunctionNumbers) -> list[Tree]:
    """Those of samples first; their functions are numbered."""
    counted = [
        tree
        for process in run.processes
        if process.calls.is_recorded
        for tree in CountedTrees(run, process, numbers).trees()
    ]
    return [*_sampled(run, numbers), *counted]


def _sampled(run: Run, numbers: FunctionNumbers) -> Iterator[Tree]:
    for thread in stacks(run).threads:
        yield _tree(thread, numbers)


def _tree(thread: ThreadStacks, numbers: FunctionNumbers) -> Tree:
    totals = np.array([row.total_ns for row in thread.rows], np.int64)
    least_ns = least_time(totals, thread.total_ns)
    rows, depths = _without_machinery([row for row in thread.rows if row.total_ns >= least_ns])
    return Tree(
        source="samples",
        process=thread.process,
        thread=thread.thread,
        threads=thread.threads,
        main=thread.main,
        total_ns=thread.total_ns,
        samples=thread.samples,
        depth=depths,
        function=[numbers.of(row.function, row.file, row.line, row.library) for row in rows],
        total=[row.total_ns for row in rows],
        own=[row.self_ns for row in rows],
        calls=None,
    )


def _without_machinery(rows: list[StackRow]) -> tuple[list[StackRow], list[int]]:
    """Rows without those of imports, and their depths without them."""
    kept, depths = [], []
    left_out: list[int] = []  # by depth: how many were left out on the way
    for row in rows:
        del left_out[row.depth :]
        above = left_out[-1] if left_out else 0
        is_hidden = is_import_machinery(row.file)
        left_out.append(above + is_hidden)
        if not is_hidden:
            kept.append(row)
            depths.append(row.depth - above)
    return kept, depths
