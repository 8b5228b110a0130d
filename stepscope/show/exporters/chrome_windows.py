"""The operators, kernels and flows of a process's windows, on the clock of the timeline."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

from stepscope.analyze.timeline.one_clock import Member
from stepscope.analyze.timeline.traced_windows import TracedWindow, traced_windows
from stepscope.model import Location
from stepscope.show.exporters import trace_events as to

# Ids that join events to each other. They start at 1 in every window.
_JOINING: Final = ("External id", "external id", "correlation", "Sequence number")
_WINDOWS_APART: Final = 2**33  # ids have 32 bits; of a million windows, viewers keep them exact
_NOT_OURS: Final = ("Spans", "Traces", "")  # Kineto's rows about itself
_MEMORY: Final = "[memory]"
# Sort indexes: those of our own rows and of the processes are smaller.
_BEHIND_OUR_ROWS: Final = 2**20
_DEVICES_AFTER: Final = 2**16


class Numbers:
    """Process and thread numbers that are unique in the timeline."""

    def __init__(
        self, pid: int, order: int, own: "itertools.count[int]", windows: "itertools.count[int]"
    ) -> None:
        self.order = order
        self.windows = windows
        self._pid = pid
        self._own = own
        self._given: dict[tuple[str, str], int] = {}

    def process(self, traced: str, host_pid: int) -> int:
        """A device is a process of its own in Kineto's traces, and every rank calls it 0."""
        return self._pid if traced == str(host_pid) else self._own_number("process", traced)

    def thread(self, traced: str) -> int:
        is_number = traced.isascii() and traced.isdecimal()
        return int(traced) if is_number else self._own_number("thread", traced)

    def _own_number(self, what: str, traced: str) -> int:
        if (what, traced) not in self._given:
            self._given[what, traced] = next(self._own)
        return self._given[what, traced]


def window_events(member: Member, numbers: Numbers) -> Iterator[to.Event]:
    """Windows that cannot be read are left out, as everywhere."""
    for window in traced_windows(member.run, member.process):
        if isinstance(window, TracedWindow):
            yield from _Window(member, window, numbers).events()


class _Window:
    def __init__(self, member: Member, window: TracedWindow, numbers: Numbers) -> None:
        self._member, self._window = member, window
        self._numbers = numbers
        self._offset = next(numbers.windows) * _WINDOWS_APART
        self._flows: dict[tuple[str, str], to.Event] = {}  # the other end is still to come
        self._names: dict[tuple[str, str, str], str] = {}  # from Kineto
        self._seen: dict[tuple[str, str], tuple[int, int]] = {}  # to our pid and tid

    def events(self) -> Iterator[to.Event]:
        zero_ns = self._member.zero_unix_ns
        for event, at_ns, lasted_ns, where in self._window.placed_events():
            pid, tid, kind = str(event.get("pid")), str(event.get("tid")), event.get("ph")
            if pid in _NOT_OURS:
                continue
            if kind == "M":
                self._remember_name(event, pid, tid)
                continue
            event |= {"ts": to.us(at_ns - zero_ns)}
            if kind == "X":
                event["dur"] = to.us(lasted_ns)
                yield self._placed(event, where)
            elif kind in ("s", "f"):
                yield from self._flow(event)
            elif kind in ("i", "I"):
                yield from self._moment(event)
        yield from self._named()

    def _here(self, event: to.Event) -> to.Event:
        traced = str(event.get("pid")), str(event.get("tid"))
        if traced not in self._seen:
            pid = self._numbers.process(traced[0], self._member.pid)
            self._seen[traced] = pid, self._numbers.thread(traced[1])
        event["pid"], event["tid"] = self._seen[traced]
        return event

    def _placed(self, event: to.Event, where: Location | None) -> to.Event:
        args = event.get("args")
        event["args"] = args = args if isinstance(args, dict) else {}
        for name in _JOINING:
            if isinstance(args.get(name), int) and args[name] > 0:
                args[name] += self._offset
        if where is not None:
            args["source"] = to.text(f"{where.file}:{where.line}")
            args["function"] = to.text(where.function or "")
        return self._here(event)

    def _flow(self, event: to.Event) -> Iterator[to.Event]:
        """Both ends or none: the other may lie outside the window."""
        key = str(event.get("cat")), str(event.get("id"))
        other = self._flows.pop(key, None)
        if other is None or other["ph"] == event["ph"]:
            self._flows[key] = event
            return
        for each in sorted((other, event), key=lambda end: end["ph"] == "f"):
            number: Any = each.get("id")
            is_number = isinstance(number, int)
            each["id"] = number + self._offset if is_number else f"{self._offset}:{number}"
            yield self._here(each)

    def _moment(self, event: to.Event) -> Iterator[to.Event]:
        yield self._here(event)
        args: Any = event.get("args")
        total = args.get("Total Allocated") if isinstance(args, dict) else None
        if event.get("name") == _MEMORY and isinstance(total, int):
            where = f"device {args.get('Device Id')}" if args.get("Device Type") else "host"
            yield {
                "ph": "C", "name": f"memory of tensors ({where})", "pid": event["pid"], "tid": 0,
                "ts": event["ts"], "args": {"bytes": total},
            }  # fmt: skip

    # --- names -----------------------------------------------------------------------------------

    def _remember_name(self, event: to.Event, pid: str, tid: str) -> None:
        args = event.get("args")
        name = args.get("name", args.get("labels")) if isinstance(args, dict) else None
        if isinstance(name, str):
            self._names[str(event.get("name")), pid, tid] = name

    def _named(self) -> Iterator[to.Event]:
        """Only those with events: Kineto also names devices that did nothing."""
        host_pid = str(self._member.pid)
        for (traced, thread), (pid, tid) in self._seen.items():
            unnamed = f"thread {thread}" if thread.isdecimal() else thread
            name = self._names.get(("thread_name", traced, thread)) or unnamed
            if traced == host_pid:
                known = self._member.thread_of_native(thread)
                name = f"{known or name}: operators"
            else:
                order = _DEVICES_AFTER + self._numbers.order
                yield from to.process_named(pid, self._device_name(traced), order)
            yield from to.thread_named(pid, tid, name, _BEHIND_OUR_ROWS + tid % _BEHIND_OUR_ROWS)

    def _device_name(self, traced: str) -> str:
        labels = {key[0]: name for key, name in self._names.items() if key[1] == traced}
        name = labels.get("process_labels") or labels.get("process_name") or f"device {traced}"
        rank = self._member.rank
        return name if rank is None else f"{name}, rank {rank}"
