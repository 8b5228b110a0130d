"""Opens a run folder: whatever can be read of it, and notes about what cannot."""

import dataclasses
import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from stepscope.clock import FARTHEST, Clock, distance
from stepscope.errors import DataError, NotATrace
from stepscope.model import Process
from stepscope.store import events as tables
from stepscope.store import format as fmt
from stepscope.store import streams
from stepscope.store.calls import Calls, read_calls
from stepscope.store.columns import Columns
from stepscope.store.json_files import read_json, read_lines_of_json
from stepscope.store.plain_files import is_folder
from stepscope.store.records import (
    AnyName,
    MeasuredGain,
    MeasuredGains,
    Names,
    Note,
    ProcessInfo,
    RunInfo,
    Supervisor,
)
from stepscope.store.sources import source_of

_NO_EVENTS: Final = Columns.of(np.zeros(0, streams.EVENT_DTYPE), slice(None))
_FOLDER_NAME: Final = re.compile(r"proc-(\w*)-(.*)-(\d{1,9})(\.\d+)?")
_AT_ONCE: Final = 2**16  # events: of millions, a table on the way takes a hundred megabytes
_KINDS_WITH_END: Final = (fmt.EventKind.SPAN, fmt.EventKind.OPEN)
_Table = TypeVar("_Table", bound=tables.Events)


def _table(kind: type[_Table]) -> "functools.cached_property[_Table]":
    def of(process: "ProcessData") -> _Table:
        return kind(process._of_kind(kind.kind), process.clock, process.end_ns)

    return functools.cached_property(of)


@dataclasses.dataclass(eq=False)
class ProcessData:
    """Everything one process recorded. Times of lines, samples and calls are ticks; `clock`
    converts them to ns."""

    folder: Path
    info: ProcessInfo
    names: Names
    events: dict[int, Columns]  # by kind; the tables below name their columns
    lines: streams.Lines
    clock: Clock
    end_ns: int  # monotonic: when it ended, or the last time known
    notes: list[str]
    samples: streams.Samples
    calls: Calls = dataclasses.field(default_factory=Calls)
    trace: Path | None = None  # what another tool wrote, if that is all there is of it
    trace_shift_ns: int = 0  # from the trace's clock to the one that all ranks share

    spans = _table(tables.Spans)
    step_marks = _table(tables.StepMarks)
    loop_stamps = _table(tables.LoopStamps)
    opens = _table(tables.Opens)
    cpu = _table(tables.CpuTimes)
    transfers = _table(tables.Transfers)
    memory = _table(tables.Memory)
    costs = _table(tables.Costs)
    line_begins = _table(tables.LineBegins)
    windows = _table(tables.Windows)
    losses = _table(tables.LossValues)
    rests = _table(tables.Rests)

    @property
    def start_ns(self) -> int:
        """Monotonic time at which recording began: the origin of times in answers."""
        return self.clock.first_ns

    @property
    def ended_cleanly(self) -> bool:
        return self.info.status in ("ended", "stopped")

    @property
    def process(self) -> Process:
        """As answers name it; workers are reported together."""
        pid = None if self.info.role == "worker" else self.info.pid
        return Process(role=self.info.role, rank=self.info.rank, pid=pid)

    @functools.cached_property
    def main_thread(self) -> int:
        """The thread of that name that recorded most: a forked child also has its parent's name.
        Without a name, the thread that recorded first."""
        named = [thread.id for thread in self.names.threads.values() if thread.main]
        kinds = self.events.values()
        if not named:
            firsts = [(events, int(events["start"].argmin())) for events in kinds]
            starts = [
                (int(events["start"][at]), int(events["thread"][at])) for events, at in firsts
            ]
            return min(starts, default=(0, 0))[1]
        return max(named, key=lambda id: sum(int((each["thread"] == id).sum()) for each in kinds))

    @functools.cached_property
    def trains(self) -> bool:
        """Whether it updated weights, as far as frameworks and marks say."""
        passes = self.spans.are(fmt.SpanCategory.OPTIMIZER, fmt.SpanCategory.BACKWARD)
        return bool((passes | self.spans.updates).any()) or len(self.step_marks) > 0

    @property
    def threads(self) -> list[int]:
        """Those that recorded any event."""
        found = {id for each in self.events.values() for id in np.unique(each["thread"]).tolist()}
        return sorted(found - {0})

    def source_lines(self, name: str | None) -> list[str] | None:
        """The text of a source file as it was when it ran."""
        return source_of(self.folder.parent, name)

    @functools.cached_property
    def texts(self) -> dict[str, list[str]]:
        """The user's files by path, as far as their texts are known."""
        read = ((each.path, self.source_lines(each.source)) for each in self.names.files.values())
        return {path: lines for path, lines in read if lines is not None}

    def text_at(self, path: str, line: int) -> str:
        """One line of such a file; empty if it is not known."""
        lines = self.texts.get(path, [])
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def _of_kind(self, kind: fmt.EventKind) -> Columns:
        return self.events.get(kind, _NO_EVENTS)


@dataclasses.dataclass(eq=False)
class Run:
    """An opened run folder."""

    path: Path
    info: RunInfo
    supervisor: Supervisor | None
    system: list[dict[str, Any]]
    processes: list[ProcessData]
    notes: list[str]
    measured: list[MeasuredGain] = dataclasses.field(default_factory=list)  # by `stepscope try`

    @property
    def cwd(self) -> str:
        """Where the run was started; empty when that is not known."""
        return self.info.cwd or ""

    @property
    def is_trace(self) -> bool:
        """Whether another tool recorded it."""
        return any(process.trace is not None for process in self.processes)

    @functools.cached_property
    def main(self) -> ProcessData | None:
        """The process that answers are about by default. Where a script only starts the one that
        trains and waits for it, that one."""
        first = self._first
        if first is None or first.trains:
            return first
        children = sorted(self.processes, key=lambda process: process.start_ns)
        return next((child for child in children if child.trains), first)

    @property
    def _first(self) -> ProcessData | None:
        has_ranks = any(process.info.role == "rank" for process in self.processes)

        def order(process: ProcessData) -> tuple[bool, bool, bool, int, int]:
            info = process.info
            is_launcher = has_ranks and info.rank is None  # it only started the others
            is_main = info.role == "main"
            return info.role == "worker", is_launcher, not is_main, info.rank or 0, process.start_ns

        return min(self.processes, key=order, default=None)

    def source_lines(self, name: str | None) -> list[str] | None:
        """The text of a source file as it was when it ran."""
        return source_of(self.path, name)


def open_run(path: str | Path) -> Run:
    """Read a run folder that is finished, being written, cut off, or lacks parts."""
    folder = Path(path)
    notes: list[str] = []
    info = _read_run_info(folder, notes)
    supervisor = read_json(folder / fmt.SUPERVISOR_FILE, Supervisor, notes, needed=False)
    system = read_lines_of_json(folder / fmt.SYSTEM_FILE, dict[str, Any], notes, needed=False)
    processes = _read_processes(folder, supervisor)
    links = sorted(path.name for path in folder.glob("proc-*") if path.is_symlink())
    notes += [f"{name} is a link: links in a run folder are not followed." for name in links]
    of_the_run = read_lines_of_json(folder / fmt.NOTES_FILE, Note, notes, needed=False)
    notes += [note.text for note in of_the_run]
    if not processes:
        notes.append("No process recorded anything.")
    gains = read_json(folder / fmt.MEASURED_FILE, MeasuredGains, notes, needed=False)
    return Run(folder, info, supervisor, system, processes, notes, gains.fixes if gains else [])


def _read_run_info(folder: Path, notes: list[str]) -> RunInfo:
    """run.json; if only that file is damaged, the rest of the folder can still be read."""
    if not folder.is_dir():
        what = "is neither a folder nor a file" if folder.exists() else "does not exist"
        raise NotATrace(
            f"'{folder}' {what}. Give a run folder that 'stepscope run' made, or a file that "
            "another profiler wrote."
        )
    file = folder / fmt.RUN_FILE
    has_processes = bool(_process_folders(folder))
    if not file.exists() and not has_processes:
        raise DataError(
            f"'{folder}' is not a run folder: it has no {fmt.RUN_FILE}. "
            "Give the folder that 'stepscope run' named at its end."
        )
    info = read_json(file, RunInfo, notes)
    if info is None and not has_processes:
        raise DataError(
            f"'{file}' cannot be read, and nothing else is there. Record the run again."
        )
    return info or RunInfo(format=fmt.FORMAT_VERSION)


def _process_folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.glob("proc-*") if is_folder(path))
    except OSError as error:
        raise DataError(f"'{folder}' cannot be read: {error}. Check its permissions.") from error


def _read_processes(folder: Path, supervisor: Supervisor | None) -> list[ProcessData]:
    known: dict[Path, tuple[ProcessInfo | None, list[str]]] = {}
    for entry in _process_folders(folder):
        notes: list[str] = []
        known[entry] = read_json(entry / fmt.PROCESS_FILE, ProcessInfo, notes), notes
    infos = [info for info, _ in known.values() if info]
    return [
        _read_process(entry, info or _info_from_name(entry, infos), notes, supervisor)
        for entry, (info, notes) in known.items()
    ]


def _read_process(
    folder: Path, info: ProcessInfo, notes: list[str], supervisor: Supervisor | None
) -> ProcessData:
    if info.trace is not None:
        return process_of_trace(folder, _inside(folder, info.trace, notes), info, notes)
    names = Names()
    for name in read_lines_of_json(folder / fmt.NAMES_FILE, AnyName, notes):
        names.add(name)
    events, clock_kind = streams.read_events(folder / fmt.EVENTS_FILE, notes)
    lines = streams.read_lines(folder / fmt.LINES_FILE, notes)
    samples = streams.read_samples(folder / fmt.SAMPLES_FILE, notes)
    calls = read_calls(folder / fmt.CALLS_FILE, notes)
    watched = supervisor if info.role == "main" else None  # the process that it started
    ended_ns = watched.ended_monotonic_ns if watched else None
    clock = _make_clock(events, clock_kind, info, watched)
    events = _plausible(events, clock, notes)
    end_tick = _end_tick(info, events, lines, clock, ended_ns)
    streams.account_for_open_lines(lines, end_tick)
    calls.account_for_open(end_tick)
    notes += [note.text for note in names.notes]
    samples = _plausible_samples(samples, clock, notes)
    end_ns = clock.ns_at(end_tick)
    kinds = streams.by_kind(events)
    process = ProcessData(folder, info, names, kinds, lines, clock, end_ns, notes, samples, calls)
    _note_rests(process)
    return process


def _inside(folder: Path, name: str, notes: list[str]) -> Path:
    path = folder / Path(name).name
    if path.is_symlink():
        notes.append(f"{path.name} is a link: links in a run folder are not followed.")
        return folder / "not-followed"
    return path


def process_of_trace(folder: Path, trace: Path, info: ProcessInfo, notes: list[str]) -> ProcessData:
    """A process that another tool recorded: a tick is a nanosecond of Unix time."""
    started = info.started_realtime_ns
    first = np.array([started] if started else [], np.uint64)
    return ProcessData(
        folder=folder, info=info, names=Names(), events={},
        lines=streams.Lines(), clock=Clock(first, first, first), end_ns=info.ended_ticks or 0,
        notes=notes, samples=streams.Samples(), trace=trace, trace_shift_ns=info.trace_shift_ns,
    )  # fmt: skip


def _note_rests(process: ProcessData) -> None:
    """So that nobody takes the steps for all there were."""
    rests = process.rests
    if len(rests):
        rested_s = int((rests.end_ns - rests.start_ns).sum()) / 1e9
        process.notes.append(
            f"The job outlasted the room for its events: for {rested_s:,.0f} s of it, steps are "
            "not recorded one by one. --max-size gives it more room."
        )


def _info_from_name(folder: Path, others: Sequence[ProcessInfo]) -> ProcessInfo:
    """What is known about a process whose process.json is missing. Killed as it started, beside one
    that trains with that rank, it is a child of that one."""
    match = _FOLDER_NAME.fullmatch(folder.name)
    rank = int(match[1]) if match and match[1].isdecimal() else None
    is_child = any(each.role != "worker" and (each.rank or 0) == (rank or 0) for each in others)
    return ProcessInfo(
        format=fmt.FORMAT_VERSION,
        role="worker" if is_child else "main",
        rank=rank,
        pid=int(match[3]) if match else 0,
        host=match[2] if match else "",
    )


def _make_clock(
    events: npt.NDArray[Any], kind: int, info: ProcessInfo, supervisor: Supervisor | None
) -> Clock:
    started_ns = supervisor.started_monotonic_ns if supervisor else None
    triples = events[(events["tag"] & np.uint32(0xFF)) == fmt.EventKind.CLOCK]
    if not len(triples) and kind == fmt.ClockKind.MONOTONIC:
        return _clock_without_triples(events, started_ns)
    # A process cut off before its second triple still has the rate measured at its start.
    fields = triples["start"], triples["end"], triples["value0"]
    return Clock(*fields, ns_per_tick=1.0 / (info.ticks_per_ns or 1.0))


def _clock_without_triples(events: npt.NDArray[Any], started_ns: int | None) -> Clock:
    """A tick is a nanosecond: use the first tick, or the time at which the script started."""
    first = events["start"][:1]
    if not len(events) and started_ns is not None:
        first = np.array([started_ns], dtype=np.uint64)
    return Clock(first, first, first)


def _plausible(events: npt.NDArray[Any], clock: Clock, notes: list[str]) -> npt.NDArray[Any]:
    """Without events at impossible times: those are damage."""
    parts = (events["start"][first : first + _AT_ONCE] for first in range(0, len(events), _AT_ONCE))
    each = [np.abs(distance(part, clock.first_tick)) < FARTHEST for part in parts]
    sane = np.concatenate([np.zeros(0, np.bool_), *each])
    if sane.all():
        return events
    notes.append(f"{int((~sane).sum()):,} events have impossible times and are left out.")
    kept: npt.NDArray[Any] = events[sane]
    return kept


def _plausible_samples(found: streams.Samples, clock: Clock, notes: list[str]) -> streams.Samples:
    samples = found.samples
    sane = np.abs(distance(samples["start"], clock.first_tick)) < FARTHEST
    sane &= samples["weight"] < FARTHEST
    if sane.all():
        return found
    notes.append(f"{int((~sane).sum()):,} samples have impossible times and are left out.")
    return dataclasses.replace(found, samples=samples[sane])


def _end_tick(
    info: ProcessInfo,
    events: npt.NDArray[Any],
    lines: streams.Lines,
    clock: Clock,
    ended_ns: int | None,
) -> int:
    """When the process ended: by its own record, the supervisor's, or the last tick anywhere."""
    if info.ended_ticks is not None:
        return info.ended_ticks
    if ended_ns is not None and clock.first_ns:
        return max(clock.ticks_at(ended_ns), clock.first_tick)
    kinds = events["tag"] & np.uint32(0xFF)
    ends = events["end"][np.isin(kinds, _KINDS_WITH_END)]
    last = 0
    for seen in (events["start"], ends, lines.activations["since"]):
        since = distance(seen, clock.first_tick)
        last = int(since[since < FARTHEST].max(initial=last))
    return clock.first_tick + last
