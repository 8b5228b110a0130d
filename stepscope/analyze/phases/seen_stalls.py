"""What only the samples show of loading, saving, logging and evaluating, as part of those phases.

1. A print, a logger, a write to an open file is logging, also where no hook records it.
2. A function that saves or logs does so with all of its own Python: it collects and rounds what it
   writes. That needs a framework, as without one the training is Python as well.
3. What a generator or a reader of the script's own does to make a batch is input
   (own_batches.py).
4. Without a framework, so is evaluation what the step loop calls to evaluate (evaluating_lines.py).

Samples say how much of a phase that is. Which steps have it is what the spans of the phase say, or
else the hits of the lines: if these are in every tenth step, the longest tenth of them have it.
"""

import collections
import dataclasses
import functools
import re
from collections.abc import Iterable
from typing import Final

import numpy as np

from stepscope.analyze.phases.evaluating_lines import Key, evaluating_lines, key_of
from stepscope.analyze.phases.framework_spans import is_trained_by_framework
from stepscope.analyze.phases.looks import PYTHON, Frame, Look, StepTime, step_time
from stepscope.analyze.phases.own_batches import own_batches
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData

_LIBRARIES: Final = ("/logging/", "/tensorboard/", "/tensorboardX/", "/wandb/", "/mlflow/")
_PRINTS: Final = re.compile(
    r"\bprint\(|\blogg?(er|ing)?\.|\.write\(|\.flush\(|\.writerow|\bfsync\(|\bself\.log(_dict)?\("
)
_MAY_LOG: Final = (PYTHON, "prepare", "sync", "optimizer", "forward")
_OWN: Final = (PYTHON, "prepare", "files")  # the phases in which the script's own code runs
_PASSES: Final = ("forward", "backward", "optimizer", "compute")
_SAVES_OR_LOGS: Final = ("checkpoint", "logging")
_TRAINS: Final = 0.05  # of a function's time in the passes: less is chance
# Of a function's time: it is there to save or to log. One that does something else and prints a
# line at its end has less (tests/advise/test_logging.py has one of each).
_IS_FOR: Final = 0.25


@dataclasses.dataclass(frozen=True)
class Part:
    """The part of a phase that belongs to another one."""

    phase: str
    belongs_to: str
    share: float  # of the phase
    of_steps: float | None  # the share of the steps that have it; None: those with the other phase


class SeenStalls:
    def __init__(self, process: ProcessData, steps: FoundSteps) -> None:
        self._process = process
        self._is_framework = is_trained_by_framework(process)
        seen = step_time(process, steps)
        self._evaluating = (
            set() if self._is_framework else evaluating_lines(process, steps, seen.looks)
        )
        self._batches = own_batches(process, steps, seen.looks, is_framework=self._is_framework)
        first = [dataclasses.replace(look, phase=self._first(look)) for look in seen.looks]
        self._functions = _functions_for(first) if self._is_framework else {}
        self.parts = self._parts(seen, max(1, len(steps)))
        self._moves = {(part.phase, part.belongs_to) for part in self.parts}

    def applied_to(self, seen: StepTime) -> StepTime:
        """With each look in the phase that it belongs to."""
        if not self._moves:
            return seen
        return dataclasses.replace(
            seen, looks=[dataclasses.replace(each, phase=self._kept(each)) for each in seen.looks]
        )

    def _kept(self, look: Look) -> str:
        phase = self._phase(look)
        return phase if (look.phase, phase) in self._moves else look.phase

    def _phase(self, look: Look) -> str:
        phase = self._first(look)
        if phase in _OWN:
            found = (self._functions.get(key_of(frame)) for frame in look.users)
            return next(filter(None, found), phase)
        return phase

    def _first(self, look: Look) -> str:
        """By what is called."""
        if look.phase in _OWN and self._batches.makes(look):
            return "input"
        if look.phase in _MAY_LOG and self._logs(look):
            return "logging"
        if not self._is_framework and look.phase == PYTHON and self._evaluates(look):
            return "evaluation"
        return look.phase

    def _logs(self, look: Look) -> bool:
        libraries = (frame.function.file for frame in look.frames if not frame.is_users)
        if any(part in file for file in libraries for part in _LIBRARIES):
            return True
        is_own = look.phase == PYTHON and bool(look.users)
        return is_own and bool(_PRINTS.search(self._text(look.users[-1])))

    def _evaluates(self, look: Look) -> Frame | None:
        """The line of the step loop that does."""
        lines = ((frame, (*key_of(frame), frame.line)) for frame in look.users)
        return next((frame for frame, line in lines if line in self._evaluating), None)

    def _text(self, frame: Frame) -> str:
        return self._process.text_at(frame.function.file, frame.line)

    # --- how much of a phase ----------------------------------------------------------------------

    def _parts(self, seen: StepTime, steps: int) -> list[Part]:
        """Without those that may be chance."""
        whole: dict[str, float] = collections.defaultdict(float)
        moved: dict[tuple[str, str, bool], float] = collections.defaultdict(float)
        weighed: dict[tuple[str, str, bool], float] = collections.defaultdict(float)
        for look in seen.looks:
            whole[look.phase] += look.ns
            phase = self._phase(look)
            if phase != look.phase:
                key = look.phase, phase, phase == self._first(look)
                moved[key] += look.ns
                weighed[key] += look.ns * min(1.0, self._hits(look, phase) / steps)
        share: dict[str, float] = collections.defaultdict(float)
        for (_, other, _), ns in moved.items():
            share[other] += ns / max(1.0, seen.total_ns)
        found = []
        for (phase, other, is_by_call), ns in moved.items():
            if ns and share[other] > seen.error(share[other]):
                of_steps = weighed[phase, other, is_by_call] / ns if is_by_call else None
                found.append(Part(phase, other, ns / whole[phase], of_steps))
        return sorted(found, key=lambda part: part.of_steps is None)  # it needs those before it

    def _hits(self, look: Look, phase: str) -> float:
        """Of the line that logs, or calls the evaluation; as many as steps if that is not known."""
        if not look.users:
            return np.inf
        frame = (self._evaluates(look) if phase == "evaluation" else None) or look.users[-1]
        return self._line_hits.get((frame.function.file, frame.line), np.inf)

    @functools.cached_property
    def _line_hits(self) -> dict[tuple[str, int], int]:
        found: dict[tuple[str, int], int] = collections.defaultdict(int)
        for block in self._process.lines.blocks:
            known = self._process.names.code_and_file(block.code_id)
            if known is None:
                continue
            _, file = known
            for index in np.flatnonzero(block.hits).tolist():
                found[file.path, block.first_line + index] += int(block.hits[index])
        return found


@functools.lru_cache(maxsize=64)
def seen_stalls(process: ProcessData, steps: FoundSteps) -> SeenStalls:
    return SeenStalls(process, steps)


def moved_ns(part: Part, whole_ns: float, phase_ns: Ints, other_ns: Ints) -> Ints:
    """By measured step: what goes from one phase to another. `whole_ns`: of the one, before
    anything of it went away."""
    weights = other_ns.astype(np.float64)
    if part.of_steps is not None:
        count = max(1, round(part.of_steps * len(phase_ns)))
        most = np.argsort(phase_ns, kind="stable")[-count:]
        weights = np.where(np.isin(np.arange(len(phase_ns)), most), phase_ns, 0.0)
    wanted = part.share * whole_ns * weights / max(1.0, weights.sum())
    moved: Ints = np.minimum(phase_ns, wanted).astype(np.int64)
    return moved


def _functions_for(looks: Iterable[Look]) -> dict[Key, str]:
    """The functions that are there to save or to log, and do not train."""
    spent: dict[Key, dict[str, float]] = collections.defaultdict(
        lambda: collections.defaultdict(float)
    )
    for look in looks:
        for key in {key_of(frame) for frame in look.users}:
            spent[key][look.phase] += look.ns
    found = {}
    for key, by_phase in spent.items():
        whole = sum(by_phase.values())
        trains = sum(by_phase[name] for name in _PASSES) > _TRAINS * whole
        phase = max(_SAVES_OR_LOGS, key=lambda name: by_phase[name])
        if not trains and by_phase[phase] >= _IS_FOR * whole:
            found[key] = phase
    return found
