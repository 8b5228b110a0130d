"""How often each function was called and how long it took: exact with --calls, else from
lines and samples."""

import collections
import dataclasses
from collections.abc import Iterable
from typing import Final

import msgspec

from stepscope.analyze.code.call_tree import Counts, call_totals
from stepscope.analyze.code.sampled_calls import SampledCalls
from stepscope.analyze.code.stack_tree import SampledFunction, sampled_functions
from stepscope.analyze.code.thinned_lines import line_ticks
from stepscope.analyze.libraries import is_generated
from stepscope.analyze.run import all_notes, shown_path
from stepscope.analyze.traces.windows import trace_of
from stepscope.importers.trace import Counts as GivenCounts
from stepscope.importers.trace import Frame
from stepscope.model import CallRow, FunctionRow, FunctionsAnswer, Process
from stepscope.store.reader import ProcessData, Run

RECORD_CALLS: Final = (
    "Calls were not counted: times, callers and callees come from samples, and only your own "
    "functions have a number of calls. 'stepscope run --calls' counts every call."
)
NOT_ALL: Final = "Some calls are missing: numbers of calls are lower bounds."

_Place = tuple[str, int, str]  # file, first line, name
_Key = tuple[_Place, Process]


@dataclasses.dataclass
class _Function:
    """A function's figures, summed over code objects and the processes of a role."""

    counts: Counts = dataclasses.field(default_factory=Counts)
    callers: dict[_Place, Counts] = dataclasses.field(default_factory=dict)
    callees: dict[_Place, Counts] = dataclasses.field(default_factory=dict)


def functions(run: Run) -> FunctionsAnswer:
    """One entry per function, role and rank; the most own time first."""
    counted = [process for process in run.processes if process.calls.is_recorded]
    given = [process for process in run.processes if process.trace is not None]
    others = [each for each in run.processes if each not in counted and each not in given]
    rows = _exact_rows(run, counted) + _estimated_rows(run, others) + _given_rows(run, given)
    rows.sort(key=lambda row: (-(row.tottime_ns or 0), -(row.cumtime_ns or 0), row.file, row.line))
    notes = all_notes(run)
    if others or not (counted or given):
        notes.append(RECORD_CALLS)
    is_whole = all(process.calls.is_whole for process in counted)
    if not is_whole:
        notes.append(NOT_ALL)
    return FunctionsAnswer(
        functions=rows, exact=bool(counted or given) and not others and is_whole, notes=notes
    )


# --- with --calls --------------------------------------------------------------------------------


def _exact_rows(run: Run, processes: Iterable[ProcessData]) -> list[FunctionRow]:
    found: dict[_Key, _Function] = {}
    for process in processes:
        _add_process(run, process, found)
    return [_row(place, who, function) for (place, who), function in found.items()]


def _row(place: _Place, process: Process, function: _Function) -> FunctionRow:
    file, line, name = place
    return FunctionRow(
        file=file,
        line=line,
        function=name,
        process=process,
        ncalls=function.counts.ncalls,
        primitive_calls=function.counts.primitive_calls,
        tottime_ns=function.counts.tottime_ns,
        cumtime_ns=function.counts.cumtime_ns,
        estimated=False,
        callers=_call_rows(function.callers),
        callees=_call_rows(function.callees),
    )


def _add_process(run: Run, process: ProcessData, found: dict[_Key, _Function]) -> None:
    totals = call_totals(process.calls, process.clock)
    who = process.process
    places = {number: _place(run, process, number) for number in totals.by_function}
    for number, counts in totals.by_function.items():
        found.setdefault((places[number], who), _Function()).counts.add(counts)
    for (caller, callee), counts in totals.by_pair.items():
        above, below = places[caller], places[callee]
        found[below, who].callers.setdefault(above, Counts()).add(counts)
        found[above, who].callees.setdefault(below, Counts()).add(counts)


def _place(run: Run, process: ProcessData, number: int) -> _Place:
    name = process.names.functions.get(number)
    if name is None:
        return "?", 0, f"function {number}"
    return shown_path(run, name.file), name.line, name.name


def _call_rows(counted: dict[_Place, Counts]) -> list[CallRow]:
    rows = [
        CallRow(
            file=file,
            line=line,
            function=name,
            ncalls=counts.ncalls,
            primitive_calls=counts.primitive_calls,
            tottime_ns=counts.tottime_ns,
            cumtime_ns=counts.cumtime_ns,
        )
        for (file, line, name), counts in counted.items()
    ]
    return sorted(rows, key=lambda row: (-row.cumtime_ns, row.file, row.line, row.function))


# --- by another profiler -------------------------------------------------------------------------


def _given_rows(run: Run, processes: Iterable[ProcessData]) -> list[FunctionRow]:
    """What cProfile counted, as it is in its file."""
    rows = []
    for process in processes:
        trace = trace_of(process)
        for each in [] if isinstance(trace, str) else trace.functions:
            place, counts = _place_of(run, each.frame), _counts(each.counts)
            callers = {_place_of(run, caller): _counts(of_it) for caller, of_it in each.callers}
            rows.append(_row(place, process.process, _Function(counts, callers)))
    return rows


def _place_of(run: Run, frame: Frame) -> _Place:
    return shown_path(run, frame.file), frame.line, frame.function


def _counts(given: GivenCounts) -> Counts:
    return Counts(given.calls, given.primitive_calls, given.own_ns, given.total_ns)


# --- without -------------------------------------------------------------------------------------


def _estimated_rows(run: Run, processes: Iterable[ProcessData]) -> list[FunctionRow]:
    rows: dict[_Key, FunctionRow] = {}
    calls: dict[Process, SampledCalls] = collections.defaultdict(SampledCalls)
    for process in processes:
        calls[process.process].add(run, process)
        known: dict[_Place, FunctionRow] = {}
        for row in _rows_from_lines(run, process):
            _put(known, row)
        merge_sampled(known, sampled_functions(run, process), process.process)
        for row in known.values():
            _put_in(rows, row)
    of_process = {who: [row for row in rows.values() if row.process == who] for who in calls}
    return [row for who, found in of_process.items() for row in calls[who].put_into(found)]


def _rows_from_lines(run: Run, process: ProcessData) -> Iterable[FunctionRow]:
    """The user's own functions: each time one was entered or resumed is a call, as in cProfile.
    Time is that of its lines; recursion counts in it more than once."""
    for block in process.lines.blocks:
        known = process.names.code_and_file(block.code_id)
        ncalls = block.calls + block.resumes
        if known is None or not ncalls:
            continue
        code, file = known
        if is_generated(file.path):
            continue
        spent_ns = int(process.clock.duration_ns(line_ticks(process, block)).sum())
        yield FunctionRow(
            file=shown_path(run, file.path),
            line=code.first_line,
            function=code.function,
            process=process.process,
            ncalls=ncalls,
            primitive_calls=None,
            tottime_ns=None,
            cumtime_ns=min(spent_ns, process.end_ns - process.start_ns),
            estimated=block.is_thinned,
        )


def merge_sampled(
    known: dict[_Place, FunctionRow], sampled: Iterable[SampledFunction], process: Process
) -> None:
    """Samples give the functions' own time, and all we know about libraries'."""
    for function in sampled:
        row = known.get((function.file, function.line, function.name))
        is_counted = row is not None and row.ncalls is not None and row.cumtime_ns is not None
        # Samples may see a little more of a function than its lines took.
        most_ns = row.cumtime_ns if row is not None and is_counted else function.tottime_ns
        found = FunctionRow(
            file=function.file,
            line=function.line,
            function=function.name,
            process=process,
            ncalls=None,
            primitive_calls=None,
            tottime_ns=min(function.tottime_ns, most_ns or 0),
            cumtime_ns=None if is_counted else function.cumtime_ns,
            estimated=row is None or row.estimated,
        )
        _put(known, found)


def _put(rows: dict[_Place, FunctionRow], row: FunctionRow) -> None:
    place = row.file, row.line, row.function
    before = rows.get(place)
    rows[place] = row if before is None else _sum(before, row)


def _put_in(rows: dict[_Key, FunctionRow], row: FunctionRow) -> None:
    key = (row.file, row.line, row.function), row.process
    before = rows.get(key)
    rows[key] = row if before is None else _sum(before, row)


def _sum(one: FunctionRow, other: FunctionRow) -> FunctionRow:
    return msgspec.structs.replace(
        one,
        ncalls=_plus(one.ncalls, other.ncalls),
        tottime_ns=_plus(one.tottime_ns, other.tottime_ns),
        cumtime_ns=_plus(one.cumtime_ns, other.cumtime_ns),
        estimated=one.estimated or other.estimated,
    )


def _plus(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
