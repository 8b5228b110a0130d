"""The same file is read again in most steps."""

import collections
import dataclasses
import os
import re
from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.patch import decorated
from stepscope.advise.evidence.place import PASSES
from stepscope.advise.evidence.source import last_line
from stepscope.advise.evidence.words import at, counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.loading import read_once
from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.phases.opened_files import Opens, read_opens
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.analyze.run import code_location, line_means_ns
from stepscope.model import Location
from stepscope.model.rare import of_steps

ID: Final = "repeated-load"
_MAPS: Final = re.compile(r"\bmemmap\(|\bmmap_mode\s*=\s*['\"]|\bmmap\.mmap\(|\bopen_memmap\(")
_LEAST_STEPS: Final = 3  # twice may be two epochs
_MOST_STEPS: Final = 0.5  # of the measured ones open it
_ABOUT_LOADING: Final = 0.5  # of the function's time is in the lines that load
_NEARLY_ALL: Final = 0.9  # of the step: then the function is the training loop's own body
_TRAINS: Final = 0.1  # of the function's time in the passes: less is the edge of a phase


@dataclasses.dataclass(frozen=True)
class _Group:
    """All that one of the user's functions reads again and again."""

    code: int
    names: list[int]
    paths: list[str]
    opens: int
    steps: int


def judge(case: Case) -> list[Candidate]:
    opens = read_opens(case.process, case.steps)
    return [found for group in _groups(case, opens) if (found := _candidate(case, opens, group))]


def _groups(case: Case, opens: Opens) -> list[_Group]:
    measured = case.steps.is_measured
    enough = max(_LEAST_STEPS, _MOST_STEPS * int(measured.sum()))
    kept = (
        ~opens.is_writing & (opens.step >= 0) & (opens.thread == case.steps.thread_at(opens.at_ns))
    )
    kept &= measured[np.maximum(opens.step, 0)] & ~opens.is_importing
    changing = _written(case, opens)
    members: dict[int, list[tuple[int, str, int, int]]] = collections.defaultdict(list)
    steps_of_path: dict[tuple[int, str], set[int]] = collections.defaultdict(set)
    for number in np.unique(opens.name[kept]).tolist():
        name = case.process.names.opens.get(number)
        if name is None or name.code is None or name.path in changing:
            continue
        here = kept & (opens.name == number)
        steps_of_path[name.code, name.path] |= set(np.unique(opens.step[here]).tolist())
        members[name.code].append((number, name.path, int(here.sum()), 0))
    groups = []
    for code, found in members.items():
        again = [each for each in found if len(steps_of_path[code, each[1]]) >= enough]
        if again:
            steps = set.union(*(steps_of_path[code, each[1]] for each in again))
            paths = list(dict.fromkeys(each[1] for each in again))
            total = sum(each[2] for each in again)
            groups.append(_Group(code, [each[0] for each in again], paths, total, len(steps)))
    return groups


def _written(case: Case, opens: Opens) -> set[str]:
    """What the steps write has changed when it is read again."""
    numbers = np.unique(opens.name[opens.is_writing & (opens.step >= 0)]).tolist()
    names = (case.process.names.opens.get(number) for number in numbers)
    return {name.path for name in names if name is not None}


def _candidate(case: Case, opens: Opens, group: _Group) -> Candidate | None:
    location = _location(case, opens, group)
    if location is None:
        return None
    if _maps(case, location):
        return _mapped(case, group, location, _opening_ns(case, opens, group))
    whole, lines = _activation_ns(case, opens, group), case.code.using_ns(location)
    line_only = _line_ns(case, opens, group)
    is_own = whole and not _trains(case, opens, group, whole, lines)
    cost = _as_timed(case, whole if is_own else max(lines, line_only))
    if not cost:
        return None
    # A line's mean is that of the whole run: in the measured steps it may be a fifth less.
    low = min(max(lines, line_only), cost) if is_own else 0.8 * cost
    names = ", ".join(os.path.basename(path) for path in group.paths[:3])
    names += " …" if len(group.paths) > 3 else ""
    share = min(1.0, cost / case.step_ns)
    case.stacks.claim_place(location, share)
    measured = len(case.measured_ns)
    return Candidate(
        id=ID,
        title=f"{names} is re-read in {_steps(group.steps, measured)}",
        verdict=f"re-reads {names}{at(location)}",
        of=of_steps(group.steps, measured),
        share=share,
        evidence=[
            f"{names}: opened {counted(group.opens, 'time')} in {group.steps} of {measured} "
            f"measured steps{at(location)}.",
            f"Reading it takes {ms(cost)} of the {ms(case.step_ns)} step ({percent(share)}).",
        ],
        location=location,
        saving=read_once(cost, low),
        fix=_fix(names, location),
        patch=_patch(case, location),
        trial="cache-result",
        source=case.code.text(location),
    )


def _as_timed(case: Case, cost: float) -> float:
    """As the breakdown has it: a line's mean is that of the whole run, slow steps have more of it,
    and on a busy machine it has its part of the time without a core. Unless a loader reads it."""
    files = case.phase_ns("files")
    if files <= _ABOUT_LOADING * cost:
        return cost
    phases = phases_by_step(case.process, case.steps)
    by_clock = phases.ns[case.steps.is_measured, phases.names.index("files")].mean()
    return files * min(1.0, cost / max(1.0, float(by_clock)))


def _maps(case: Case, location: Location) -> bool:
    """Whether the file is mapped into memory: nothing is read where it is opened."""
    text = case.code.sources.text(location.file)
    statement = text.statement_at(location.line) if text else None
    if text is None or statement is None:
        return False
    return bool(_MAPS.search("\n".join(text.lines[statement.lineno - 1 : last_line(statement)])))


def _opening_ns(case: Case, opens: Opens, group: _Group) -> float:
    """By step: the lines that open it, without those that use it."""
    means, names = line_means_ns(case.process), case.process.names.opens
    spent = 0.0
    for number in group.names:
        name = names[number]
        times = int(((opens.name == number) & (opens.step >= 0)).sum())
        if name.code is not None and name.line is not None:
            spent += times * means.get((name.code, name.line), 0.0)
    return spent / max(1, len(case.steps))


def _mapped(case: Case, group: _Group, location: Location, cost: float) -> Candidate | None:
    """Mapping a file anew for each batch, against the memory that its pages seem to take, costs
    what the line takes: what is done with the data afterwards would be done anyway."""
    share = cost / case.step_ns
    if share < LEAST_SHARE:
        return None
    names = ", ".join(os.path.basename(path) for path in group.paths[:3])
    case.stacks.claim_place(location, share)
    return Candidate(
        id=ID,
        title=f"{names} is re-mapped in {_steps(group.steps, len(case.measured_ns))}",
        verdict=f"re-maps {names}{at(location)}",
        of=of_steps(group.steps, len(case.measured_ns)),
        share=share,
        evidence=[
            f"{names}: mapped {counted(group.opens, 'time')} in {group.steps} of "
            f"{len(case.measured_ns)} measured steps{at(location)}.",
            f"Mapping it takes {ms(cost)} of the {ms(case.step_ns)} step ({percent(share)}); "
            "reading what was mapped is not counted.",
        ],
        location=location,
        saving=read_once(cost, 0.8 * cost),
        fix=f"Map {names} once before the loop, and only index into it for each batch.",
        source=case.code.text(location),
    )  # fmt: skip


def _steps(count: int, measured: int) -> str:
    return "every step" if count == measured else f"{count} of {measured} steps"


def _location(case: Case, opens: Opens, group: _Group) -> Location | None:
    """The line that opened it most often."""
    counts = collections.Counter(opens.name[np.isin(opens.name, group.names)].tolist())
    name = case.process.names.opens[counts.most_common(1)[0][0]]
    return code_location(case.run, case.process, name.code, name.line)


def _activation_ns(case: Case, opens: Opens, group: _Group) -> float:
    """By step: all that the function does in calls that read."""
    kept = np.isin(opens.name, group.names) & opens.is_whole
    spans = union(opens.start_ns[kept], opens.end_ns[kept])
    return float(overlap_ns(*case.window, spans).mean())


def _line_ns(case: Case, opens: Opens, group: _Group) -> float:
    """By step: the lines that open it, if the function gives no time."""
    kept = np.isin(opens.name, group.names) & (opens.step >= 0)
    pairs = np.unique(np.stack([opens.step[kept], opens.name[kept]]), axis=1)
    cost = {int(name): int(opens.line_ns[opens.name == name][0]) for name in np.unique(pairs[1])}
    return sum(cost[int(name)] for name in pairs[1].tolist()) / max(1, len(case.steps))


def _trains(case: Case, opens: Opens, group: _Group, whole: float, lines: float) -> bool:
    """Whether the function that opens the file does the step's own work as well."""
    location = _location(case, opens, group)
    inside = case.stacks.inside(location) if location else []
    passes = sum(look.ns for look in inside if look.phase in PASSES)
    if passes > _TRAINS * sum(look.ns for look in inside):
        return True
    return whole > _NEARLY_ALL * case.step_ns and lines < _ABOUT_LOADING * whole


# --- the fix --------------------------------------------------------------------------------------


def _fix(names: str, location: Location) -> str:
    function = (location.function or "").rpartition(".")[2]
    if function.startswith("__") or "." in (location.function or ""):
        return (
            f"Read {names} once, where the object is made (__init__), keep it there, and only "
            "index into it for each item."
        )
    if function in ("", "<module>"):
        return f"Read {names} once before the loop, and use what was read in every step."
    return (
        f"Call {function}() once before the loop and pass on what it returns; or keep its result "
        "with @functools.cache."
    )


def _patch(case: Case, location: Location) -> str | None:
    """A function that is called without arguments can simply keep its result."""
    text = case.code.sources.text(location.file)
    function = text.function_at(location.line) if text else None
    if text is None or function is None or function.name != location.function:
        return None
    arguments = function.args
    if arguments.args or arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg:
        return None
    return decorated(location.file, text, location.line, "functools.cache", "import functools")
