"""What the rules look at: one run, its steps, and where their time goes. Computed once, on demand.

Rules go from the specific to the general. What one has explained it claims, so that the next does
not tell the same time again under another name.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.counters import grown
from stepscope.advise.evidence.source import Sources, lines_using
from stepscope.analyze.code.lines import lines
from stepscope.analyze.code.sampled_steps import Frame, Look, StepTime, function_presence, step_time
from stepscope.analyze.input.limits import cores_of, idle_cores
from stepscope.analyze.operators.step_operators import StepOps, step_ops
from stepscope.analyze.phases.framework_spans import is_trained_by_framework
from stepscope.analyze.phases.step_phases import Phases, phases_by_step
from stepscope.analyze.run import code_location, shown_path
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.analyze.steps.loops import Loop, is_suspended, read_loops
from stepscope.clock import Ints
from stepscope.model import FunctionLines, LineRow, Location
from stepscope.store.format import EventKind
from stepscope.store.reader import ProcessData, Run


class CannotJudge(Exception):
    """This run does not have what the rule needs; the words say what."""


@dataclasses.dataclass(frozen=True)
class StepLine:
    """A line of the user's in the steps, callees included."""

    function: FunctionLines
    row: LineRow
    ns: float  # by step
    hits: float  # by step

    @property
    def location(self) -> Location:
        return Location(
            file=self.function.file, line=self.row.line, function=self.function.function
        )


class Case:
    def __init__(self, run: Run, process: ProcessData) -> None:
        self.run = run
        self.process = process
        self.claimed: set[Look] = set()
        # Files and functions that run beside the steps, where no look of theirs could be claimed.
        self.claimed_functions: set[tuple[str, str]] = set()

    # --- steps and phases -------------------------------------------------------------------------

    @functools.cached_property
    def steps(self) -> FoundSteps:
        return find_steps(self.run, self.process)

    @functools.cached_property
    def measured_ns(self) -> Ints:
        """How long each measured step took."""
        return self.steps.duration_ns[self.steps.is_measured]

    @functools.cached_property
    def step_ns(self) -> float:
        return float(self.measured_ns.mean())

    @functools.cached_property
    def window(self) -> tuple[Ints, Ints]:
        measured = self.steps.is_measured
        return self.steps.start_ns[measured], self.steps.end_ns[measured]

    @functools.cached_property
    def phases(self) -> Phases:
        return phases_by_step(self.process, self.steps)

    @functools.cached_property
    def usual_phases_ns(self) -> npt.NDArray[np.float64]:
        """The median over the measured steps, phase by phase."""
        usual: npt.NDArray[np.float64] = np.median(self.phases.ns[self.steps.is_measured], axis=0)
        return usual

    def phase_ns(self, name: str) -> float:
        """Of the mean measured step, exclusive."""
        each = self.phase_by_step(name)
        return float(each.mean()) if len(each) else 0.0

    def phase_by_step(self, name: str) -> Ints:
        if name not in self.phases.names:
            return np.zeros(len(self.measured_ns), np.int64)
        column: Ints = self.phases.ns[self.steps.is_measured, self.phases.names.index(name)]
        return column

    def free_ns(self, name: str) -> float:
        """What of a phase no rule has claimed."""
        whole = self.share(look for look in self.time.looks if look.phase == name)
        free = self.share(self.free(name)) / whole if whole else 1.0
        return self.phase_ns(name) * free

    @functools.cached_property
    def is_framework(self) -> bool:
        """Whether phases are told, or all of the step is the user's own Python."""
        return is_trained_by_framework(self.process) or bool(
            {"compute", "forward", "optimizer"} & set(self.phases.names)
        )

    # --- cores ------------------------------------------------------------------------------------

    @functools.cached_property
    def cores(self) -> float:
        return cores_of(self.run) or 1.0

    @functools.cached_property
    def idle_cores(self) -> float:
        return idle_cores(self.run, self.process, self.window) or 0.0

    @functools.cached_property
    def without_core(self) -> float:
        """The share of the measured time in which the main thread was ready but had no core."""
        delay = grown(self.process, EventKind.MEMORY, "value1", self.window)
        return min(1.0, float(delay.sum()) / max(1.0, float(self.measured_ns.sum())))

    # --- stacks -----------------------------------------------------------------------------------

    @functools.cached_property
    def time(self) -> StepTime:
        return step_time(self.process, self.steps)

    def free(self, *phases: str) -> Iterator[Look]:
        """Looks that no rule has claimed, of these phases (none given: of all)."""
        for look in self.time.looks:
            if look not in self.claimed and (not phases or look.phase in phases):
                yield look

    def share(self, looks: Iterable[Look]) -> float:
        return sum(look.ns for look in looks) / self.time.total_ns if self.time.total_ns else 0.0

    def sure_share(self, looks: Iterable[Look]) -> float:
        """0 where so few moments stand behind it that chance may have made it."""
        share = self.share(looks)
        return share if share > self.time.error(share) else 0.0

    def claim(self, wanted: Callable[[Look], bool]) -> None:
        self.claimed |= {look for look in self.time.looks if wanted(look)}

    def claim_phase(self, name: str) -> None:
        self.claim(lambda look: look.phase == name)

    def claim_place(self, location: Location, share: float) -> None:
        """The function, or only its line where the function does much more than this share."""
        inside = [
            look for look in self.time.looks if any(self.is_in(f, location) for f in look.users)
        ]
        if self.share(inside) <= 1.3 * share + 0.02:
            self.claimed |= set(inside)
        else:
            self.claim(lambda look: any(self.place(frame) == location for frame in look.users))

    def is_in(self, frame: Frame, location: Location) -> bool:
        return frame.function.name == location.function and self.shown(frame) == location.file

    def shown(self, frame: Frame) -> str:
        return shown_path(self.run, frame.function.file)

    def place(self, frame: Frame) -> Location:
        return Location(file=self.shown(frame), line=frame.line, function=frame.function.name)

    # --- lines ------------------------------------------------------------------------------------

    @functools.cached_property
    def functions(self) -> list[FunctionLines]:
        """The user's, of this process."""
        mine = self.process.process
        return [each for each in lines(self.run).functions if each.process == mine]

    @functools.cached_property
    def lines(self) -> list[StepLine]:
        """By step, the hottest first: counters tell the whole run, samples what of it is steps."""
        presence = {
            (shown_path(self.run, file), first_line): part
            for (file, first_line), part in function_presence(self.process, self.steps).items()
        }
        count = max(1, len(self.steps))
        found = []
        for function in self.functions:
            key = function.file, function.first_line
            seen = presence.get(key)
            for row in function.lines:
                part = seen if seen is not None else float(2 * row.hits >= count)
                if part:
                    found.append(
                        StepLine(function, row, row.ns * part / count, row.hits * part / count)
                    )
        return sorted(found, key=lambda line: -line.ns)

    def using_ns(self, location: Location) -> float:
        """By step: the line that opens a file, the body of its `with`, and what is taken out of
        what it opened later on."""
        text = self.sources.text(location.file)
        wanted = lines_using(text, location.line) if text else {location.line}
        return sum(
            line.ns
            for line in self.lines
            if line.row.line in wanted
            and line.function.file == location.file
            and line.function.function == location.function
        )

    @functools.cached_property
    def operators(self) -> StepOps:
        found = step_ops(self.run, self.process)
        if found is None:
            raise CannotJudge("no operators were recorded in this run")
        return found

    @functools.cached_property
    def loops(self) -> list[Loop]:
        return read_loops(self.run, self.process)

    @functools.cached_property
    def operator_share(self) -> dict[tuple[str, int], float]:
        """By line of the user's, where operators were recorded: what of its time they take."""
        found = step_ops(self.run, self.process)
        steps = found.steps if found else 0
        return {
            (line.function.file, line.row.line): line.row.ops_ns / steps / max(1.0, line.ns)
            for line in self.lines
            if steps and line.row.ops_ns is not None
        }

    def operators_on(self, file: str, first: int, last: int) -> float:
        """What of the operators' time belongs to these lines, the optimizer's left out."""
        found = step_ops(self.run, self.process)
        return found.share_of_lines(file, first, last) if found else 0.0

    @functools.cached_property
    def step_loop(self) -> Loop | None:
        """The loop that turns once a step; a generator's that waits for it is not meant."""
        count = len(self.steps)
        there = [loop for loop in self.loops if loop.thread == self.steps.thread]
        found = [
            loop
            for loop in there
            if abs(len(loop.turn_starts) - count) <= max(2, 0.1 * count)
            and not is_suspended(loop, there)
        ]
        return max(found, key=lambda loop: loop.total_ns, default=None)

    @functools.cached_property
    def step_header(self) -> Location | None:
        loop = self.step_loop
        if loop is None:
            return None
        return code_location(self.run, self.process, loop.name.code, loop.name.line)

    @functools.cached_property
    def sources(self) -> Sources:
        return Sources(self.functions, self.run, self.process)

    def text(self, location: Location | None) -> str | None:
        if location is None:
            return None
        return self.sources.line(location.file, location.line)
