"""Which calls of a sampled stack go on from step to step, and which are made anew in each.

Samples do not say whether a function that two looks have in common was left in between. Calls that
go on are those around all steps: functions of the user's own that every look inside a step has
outermost, and that were called far less often than there are steps.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from stepscope.analyze.code.imports import is_import_machinery
from stepscope.analyze.code.sampled_stacks import Seen, Stack, Stacks
from stepscope.analyze.intervals import step_of
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData
from stepscope.store.records import FunctionName

_FEW_CALLS: Final = 0.5  # calls for each step: more are made anew
_Place = tuple[str, int, str]


def step_edges_ns(steps: FoundSteps) -> Ints:
    """Where steps begin and end."""
    edges = np.sort(np.concatenate([steps.start_ns, steps.end_ns]))
    return edges[np.diff(edges, prepend=edges[:1] - 1) > 0]


def frames_around_steps(process: ProcessData, steps: FoundSteps, stacks: Stacks, seen: Seen) -> int:
    """How many of the outermost calls go on from step to step."""
    looked_ns = seen.start_ns + seen.weight_ns
    inside = step_of(looked_ns, steps.start_ns, steps.end_ns) >= 0
    found = [stacks.stack(node) for node in np.unique(seen.nodes[inside]).tolist()]
    calls = _calls(process)
    deepest = 0
    for depth, function in enumerate(_common(found), 1):
        called = calls.get((function.file, function.line, function.name))
        if called is None:
            continue
        if called > _FEW_CALLS * len(steps):
            break
        deepest = depth
    return deepest


def _common(stacks: list[Stack]) -> Iterator[FunctionName]:
    """The outermost functions that all stacks begin with, without the machinery of imports."""
    shown = ([each for each in stack if not is_import_machinery(each.file)] for stack in stacks)
    for functions in zip(*shown, strict=False):
        if len({function.id for function in functions}) > 1:
            return
        yield functions[0]


def _calls(process: ProcessData) -> dict[_Place, int]:
    """How often each function of the user's own was entered."""
    found: dict[_Place, int] = {}
    for block in process.lines.blocks:
        known = process.names.code_and_file(block.code_id)
        if known is not None:
            code, file = known
            place = file.path, code.first_line, code.function
            found[place] = found.get(place, 0) + block.calls + block.resumes
    return found
