"""The user's code in the steps: its lines with what they cost, its loops, its text, and places."""

import dataclasses
import functools

from stepscope.advise.evidence.source import Sources, lines_using
from stepscope.analyze.code.lines import lines
from stepscope.analyze.code.sampled_steps import Frame, function_presence
from stepscope.analyze.operators.step_operators import step_ops
from stepscope.analyze.run import code_location, shown_path
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.analyze.steps.loops import Loop, is_suspended, read_loops
from stepscope.model import FunctionLines, LineRow, Location
from stepscope.store.reader import ProcessData, Run


@dataclasses.dataclass(frozen=True)
class StepLine:
    """A line of the user's code in the steps, callees included."""

    function: FunctionLines
    row: LineRow
    ns: float  # by step
    hits: float  # by step

    @property
    def location(self) -> Location:
        return Location(
            file=self.function.file, line=self.row.line, function=self.function.function
        )


class Code:
    def __init__(self, run: Run, process: ProcessData, steps: FoundSteps) -> None:
        self.run = run
        self.process = process
        self.steps = steps

    # --- places -----------------------------------------------------------------------------------

    def is_in(self, frame: Frame, location: Location) -> bool:
        return frame.function.name == location.function and self.shown(frame) == location.file

    def is_at(self, frames: tuple[Frame, ...], location: Location) -> bool:
        return any(self.place(frame) == location for frame in frames)

    def shown(self, frame: Frame) -> str:
        return shown_path(self.run, frame.function.file)

    def place(self, frame: Frame) -> Location:
        return Location(file=self.shown(frame), line=frame.line, function=frame.function.name)

    # --- lines ------------------------------------------------------------------------------------

    @functools.cached_property
    def functions(self) -> list[FunctionLines]:
        """The user's functions in this process."""
        mine = self.process.process
        return [each for each in lines(self.run).functions if each.process == mine]

    @functools.cached_property
    def lines(self) -> list[StepLine]:
        """By step, the hottest first: counters cover the whole run, samples give the
        share in steps."""
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
                    hits = row.likely_hits or row.hits
                    found.append(
                        StepLine(function, row, row.ns * part / count, hits * part / count)
                    )
        return sorted(found, key=lambda line: -line.ns)

    def using_ns(self, location: Location) -> float:
        """By step: the line that opens a file, the body of its `with`, and later lines that read
        from what it opened."""
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
    def loops(self) -> list[Loop]:
        return read_loops(self.run, self.process)

    @functools.cached_property
    def operator_share(self) -> dict[tuple[str, int], float]:
        """By line of the user's code: the share of its time in operators, if they were recorded."""
        found = step_ops(self.run, self.process)
        steps = found.steps if found else 0
        return {
            (line.function.file, line.row.line): line.row.ops_ns / steps / max(1.0, line.ns)
            for line in self.lines
            if steps and line.row.ops_ns is not None
        }

    @functools.cached_property
    def step_loop(self) -> Loop | None:
        """The loop that turns once per step, give or take two turns or a tenth of the steps; a
        suspended generator's loop does not count."""
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
