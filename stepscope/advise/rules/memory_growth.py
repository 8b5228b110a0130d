"""Memory grows step by step."""

import ast
import re
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.source import Loop, last_line
from stepscope.advise.evidence.words import at
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.answers.memory import memory
from stepscope.model import Location, ProcessMemory

ID: Final = "memory-growth"
_LEAST_BYTES: Final = 32 * 2**20  # over the measured steps: allocators keep some tens of MB free
_LEAST_SHARE: Final = 0.05  # of what there was before: less is a cache that fills
_EVERY_STEP: Final = 0.5  # hits a step: in most steps
_MOST_HITS: Final = 2.0  # a step: what grows more often is made and thrown away within it
_NUMBERS: Final = re.compile(r"time|perf_counter|\.item\(|float\(|round\(")  # they are small
_GROWS: Final = ("append", "extend", "add")

_FIX: Final = "{keep}, empty lists and caches that grow, and write results out every N steps."
_COMPILED: Final = (
    "Every graph that is compiled stays in memory: compile less often (see recompilation). If "
    "it still grows then, look for lists and caches that keep tensors."
)


def judge(case: Case) -> list[Candidate]:
    answer = memory(case.run)
    mine = [row for row in answer.processes if row.process == case.process.process]
    growth = mine[0].growth_bytes_per_step if mine else None
    if growth is None or growth <= 0:
        return []
    steps = len(case.measured_ns)
    total = growth * steps
    at_first = _at_first_step(case, mine[0])
    if total < _LEAST_BYTES or total < _LEAST_SHARE * at_first:
        return []
    kept = [line for line in answer.lines or [] if line.kept_bytes > 0]
    location = kept[0].location if kept else None
    location = _growing_line(case) or location
    limit = answer.limit_bytes or answer.machine_bytes
    left = (limit - mine[0].last_bytes) / growth if limit else None
    until = f"; {left:,.0f} more steps fill the memory" if left and left > 0 else ""
    return [
        Candidate(
            id=ID,
            title=f"Memory grows by {growth / 2**20:.1f} MB a step",
            verdict=f"keeps memory it does not free{at(location)}",
            share=0.0,
            evidence=[
                f"{growth / 2**20:.2f} MB more in each of {steps} measured steps, from "
                f"{at_first / 2**20:.0f} to {mine[0].last_bytes / 2**20:.0f} MB{until}.",
                *([f"Something is kept in every step{at(location)}."] if location else []),
            ],
            location=location,
            saving=Saving.nothing(),
            fix=_fix(case, location),
            source=case.code.text(location),
            is_always_reported=True,
        )
    ]


def _fix(case: Case, location: Location | None) -> str:
    if location is None and case.phase_ns("compile"):
        return _COMPILED
    return _FIX.format(keep=words_for(case).memory_growth)


def _at_first_step(case: Case, row: ProcessMemory) -> int:
    """What the process had when the measured steps began: imports and set-up are not growth."""
    begins = int(case.window[0][0]) - case.process.start_ns
    before = [point.resident_bytes for point in row.points if point.at_ns <= begins]
    return before[-1] if before else row.first_bytes


def _growing_line(case: Case) -> Location | None:
    """The line in the step loop that adds to something from outside it, in most steps."""
    lines = {(line.function.file, line.row.line): line for line in case.code.lines}
    header = case.code.step_header
    text = case.code.sources.text(header.file) if header else None
    loops = text.loops() if text else iter(())
    loop = next((each for each in loops if header and each.lineno == header.line), None)
    for number in _additions(loop) if loop and header else ():
        hit = lines.get((header.file if header else "", number))
        if hit is not None and hit.hits >= _EVERY_STEP:
            return hit.location
    # In a function that the loop calls: self.history.append(...)
    for line in case.code.lines:
        words = line.row.source or ""
        grows = any(f".{word}(" in words for word in _GROWS) and not _NUMBERS.search(words)
        if grows and _EVERY_STEP <= line.hits <= _MOST_HITS:
            return line.location
    return None


def _additions(loop: Loop) -> list[int]:
    made = {
        name.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }
    found = []
    for node in ast.walk(loop):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = node.func.value
        grows = node.func.attr in _GROWS
        if (
            grows
            and isinstance(owner, ast.Name | ast.Attribute)
            and getattr(owner, "id", "") not in made
        ):
            found.append(node.lineno)
    return [line for line in found if loop.lineno <= line <= last_line(loop)]
