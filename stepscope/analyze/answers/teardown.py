"""What ran after the last step, where that took long: a later training may not have been found."""

import collections
import dataclasses
from typing import Final

import numpy as np

from stepscope.analyze.lifetimes import process_end_ns
from stepscope.analyze.phases.looks import Frame, Look, time_in
from stepscope.analyze.run import shown_path
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.model import Part
from stepscope.model.durations import duration
from stepscope.store.reader import ProcessData, Run

_LONG: Final = 0.1  # of the run
_LONG_NS: Final = 1_000_000_000  # an interpreter with a framework in it takes as long to end
_MUCH: Final = 0.1  # of the teardown: what takes less is not named
_MOST_NAMED: Final = 3  # in a sentence


def teardown_note(run: Run, parts: list[Part]) -> str | None:
    """None: it was short."""
    process = run.main
    (part,) = (part for part in parts if part.category == "teardown")
    if process is None or part.share < _LONG or part.ns < _LONG_NS:
        return None
    spent = _spent_ns(run, process)
    named = [
        f"{duration(ns)} {what}" for what, ns in spent.most_common(_MOST_NAMED)
        if ns >= _MUCH * part.ns
    ]  # fmt: skip
    what = f": {', '.join(named)}" if named else "; no sample shows what ran"
    return f"Teardown (all that follows the last step) took {duration(part.ns)}{what}."


def _spent_ns(run: Run, process: ProcessData) -> collections.Counter[str]:
    """By the user's innermost line, on the steps' thread; and how long the interpreter took to end
    after the recording had."""
    found = find_steps(run, process)
    spent: collections.Counter[str] = collections.Counter()
    if not len(found):
        return spent
    rest = dataclasses.replace(
        found, start_ns=found.end_ns[-1:], end_ns=np.array([process.end_ns + 1]),
        is_open=found.is_open[-1:], samples=found.samples[-1:], warmup=0, slowed=None,
    )  # fmt: skip
    for look in time_in(process, rest, np.ones(1, np.bool_)).looks:
        spent[_what(run, look)] += int(look.ns)
    spent["in the interpreter's shutdown"] += process_end_ns(run, process) - process.end_ns
    return spent


def _what(run: Run, look: Look) -> str:
    if look.phase == "profiler":
        return "of stepscope's own work"
    return _place(run, look.users[-1]) if look.users else "outside your code"


def _place(run: Run, frame: Frame) -> str:
    place = f"{shown_path(run, frame.function.file)}:{frame.line}"
    name = frame.function.name
    return f"at {place}" if name == "<module>" else f"in {name} ({place})"
