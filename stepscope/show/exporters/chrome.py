"""Chrome's trace of a whole run, for Perfetto and chrome://tracing: all processes on one clock."""

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from stepscope.errors import InputError
from stepscope.show.exporters import trace_events as to
from stepscope.show.exporters.chrome_rows import Row, memory_points, rows
from stepscope.show.exporters.chrome_windows import Numbers, window_events
from stepscope.show.selection import only

if TYPE_CHECKING:
    from stepscope.store.reader import ProcessData, Run

OPEN_WITH: Final = "https://ui.perfetto.dev, or chrome://tracing (the file is {path})"
SUFFIX: Final = "trace.json"
_FIRST_OWN_NUMBER: Final = 2**23  # beyond every number that the kernel gives
_LANES: Final = 1000  # apart in the order of rows


def export(run: "Run", *, process: int | None = None) -> Iterator[bytes]:
    """Of all processes, or of the one asked for; in pieces, as a run may be long."""
    chosen = only(run, process=process)
    if not chosen.processes:
        raise InputError(f"'{run.path}' has no process to export. Record the run again.")
    ordered = _in_order(chosen)
    clocks = _clocks(ordered)
    base_ns = min(each.start_ns + clocks[each.info.host] for each in ordered)
    head = {"schemaVersion": 1, "traceName": to.text(run.path.resolve().name)}
    return to.document(head, base_ns, _events(chosen, ordered, clocks, base_ns))


def _in_order(run: "Run") -> list["ProcessData"]:
    """Each rank, then its workers."""
    rank_of = {each.info.pid: each.info.rank for each in run.processes if each.info.rank}

    def order(each: "ProcessData") -> tuple[bool, int, bool, int]:
        rank = each.info.rank or rank_of.get(each.info.parent_pid or 0) or 0
        return each is not run.main, rank, each.info.role == "worker", each.start_ns

    return sorted(run.processes, key=order)


def _clocks(processes: list["ProcessData"]) -> dict[str, int]:
    """For each host what makes its monotonic time Unix time: one number for all who share it."""
    clocks: dict[str, int] = {}
    for each in processes:
        clocks.setdefault(each.info.host, each.clock.wall_ns(0))
    return clocks


def _events(
    run: "Run", processes: list["ProcessData"], clocks: dict[str, int], base_ns: int
) -> Iterator[to.Event]:
    own_numbers = itertools.count(_FIRST_OWN_NUMBER)
    taken: set[int] = set()
    window_numbers = itertools.count()
    for order, process in enumerate(processes):
        pid = process.info.pid if process.info.pid not in taken else next(own_numbers)
        taken.add(pid)
        yield from to.process_named(pid, _process_name(process), order)
        zero_ns = base_ns - clocks[process.info.host]
        yield from _rows(rows(run, process), pid, own_numbers, zero_ns)
        for at_ns, resident in memory_points(process):
            values = {"bytes": resident}
            yield to.counter("resident memory", pid, at_ns - zero_ns, values)
        numbers = Numbers(pid, order, own_numbers, window_numbers)
        yield from window_events(run, process, numbers, zero_ns)


def _process_name(process: "ProcessData") -> str:
    info = process.info
    role = f"rank {info.rank}" if info.role == "rank" else info.role
    if info.role == "worker" and info.rank is not None:
        role = f"worker of rank {info.rank}"
    return f"{role}, {info.host}" if info.host else role


def _rows(
    found: Iterable[Row], pid: int, own_numbers: "itertools.count[int]", zero_ns: int
) -> Iterator[to.Event]:
    for order, row in enumerate(found):
        lanes, tids = to.Lanes(), list[int]()
        for start_ns, end_ns, name, args in row.spans:
            lane = lanes.place(start_ns, end_ns)
            if lane == len(tids):
                tids.append(next(own_numbers))
                again = f" ({lane + 1})" if lane else ""
                place = order * _LANES + lane
                yield from to.thread_named(pid, tids[lane], row.name + again, place)
            yield to.complete(
                name, row.category, pid, tids[lane], start_ns - zero_ns, end_ns - start_ns, args
            )
