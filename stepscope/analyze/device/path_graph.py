"""What depends on what in a step: begins and ends on host and device as moments, and between them
edges, each with the time that it takes by itself.

1. On a host thread, each moment depends on the one before it. The time between two belongs to the
   innermost operator or call that is open; outside all of them, to the script and its libraries.
2. A thread that has nothing open may wait for another one, as the main thread does for backward. So
   what begins then depends on the last end on any thread.
3. A kernel depends on the call that launched it and on what ran before it on its stream; after a
   wait between streams (StreamWaitEvent) also on what the other streams were given before that.
4. The end of a synchronising call depends on the last work that ended in it.
5. Of what a moment depends on, the last to come decided when it happened: that edge takes the time
   up to the moment. The others take none, except a launch, which never takes less than the usual
   delay of kernels that only their launch held up.
So the earliest time of every moment, computed from the edges, is when it happened.
"""

import dataclasses
from typing import Final

import numpy as np

from stepscope.analyze.device.host_moments import HostMoments, host_moments
from stepscope.analyze.device.path_steps import PathStep
from stepscope.analyze.traces.devices import Work
from stepscope.clock import Ints
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import Category
from stepscope.model.device import PathKind

Label = tuple[PathKind, str]
EARLIER: Final[Label] = ("earlier work", "launched before the step")
LAUNCH: Final[Label] = ("launch", "from the call to the kernel's start")
GAP: Final[Label] = ("gap", "between two kernels of a stream")
STREAM_WAIT: Final[Label] = ("stream wait", "until another stream has done its work")
BACK: Final[Label] = ("synchronisation", "back from the device to the host")


@dataclasses.dataclass
class Graph:
    """Moments in order; the edges of each are those that lead to it: (from, ns, label)."""

    usual_launch_ns: int = 0
    at_ns: list[int] = dataclasses.field(default_factory=list)
    edges: list[list[tuple[int, int, int]]] = dataclasses.field(default_factory=list)
    labels: dict[Label, int] = dataclasses.field(default_factory=dict)

    def add(self, at_ns: int, preceding: list[tuple[int, Label]]) -> int:
        """A moment after these; the last of them decided when it happened."""
        known = [each for each in preceding if each[0] >= 0 and self.at_ns[each[0]] <= at_ns]
        last = max(known, key=lambda each: self.at_ns[each[0]], default=None)
        edges = []
        for source, label in known:
            passed = at_ns - self.at_ns[source]
            least = min(passed, self.usual_launch_ns) if label == LAUNCH else 0
            taken = passed if (source, label) == last else least
            edges.append((source, taken, self.number(label)))
        self.at_ns.append(at_ns)
        self.edges.append(edges)
        return len(self.at_ns) - 1

    def number(self, label: Label) -> int:
        return self.labels.setdefault(label, len(self.labels))


@dataclasses.dataclass(frozen=True, eq=False)
class _OnDevice:
    """What the step launched on the device, in the order in which it began."""

    start_ns: list[int]
    end_ns: list[int]
    stream: list[int]
    call: list[int]  # in the calls of the work
    label: list[Label]
    earlier_ns: dict[int, int]  # by stream: the end of what was launched before the step

    def __len__(self) -> int:
        return len(self.start_ns)


def path_graph(work: Work, step: PathStep) -> Graph:
    """Host and device are merged in the order of time; a begin comes before an end that depends on
    it, and an end on the device before what waits for it on the host."""
    host, device = host_moments(work, step), _on_device(work, step)
    builder = _Builder(host, device, step, _waits(work), _usual_launch_ns(work))
    order = sorted(
        [
            *((at, 2, index) for index, at in enumerate(host.at_ns)),
            *((at, 3, index) for index, at in enumerate(device.start_ns)),
            *((at, 1, index) for index, at in enumerate(device.end_ns)),
        ]
    )
    for _, what, index in order:
        builder.take(what, index)
    return builder.graph


class _Builder:
    """Takes the moments in order, and knows what came last where."""

    def __init__(
        self, host: HostMoments, device: _OnDevice, step: PathStep, waits: list[int],
        usual_launch_ns: int,
    ) -> None:  # fmt: skip
        self.graph = Graph(usual_launch_ns=usual_launch_ns)
        self._host, self._device, self._waits = host, device, waits
        self._begin = self.graph.add(step.start_ns, [])
        self._on_thread: dict[int, int] = {}
        self._last_host = self._begin
        self._last_ended = -1  # on the device
        self._on_stream: dict[int, int] = {}
        self._launched: dict[int, int] = {}  # the moment at which a call began
        self._started: dict[int, int] = {}
        self._ended: dict[int, tuple[int, int]] = {}  # by stream: moment, call

    def take(self, what: int, index: int) -> None:
        (self._device_ends, self._host_moment, self._device_begins)[what - 1](index)

    def _host_moment(self, index: int) -> None:
        host, thread = self._host, self._host.thread[index]
        before = self._on_thread.get(thread, self._begin)
        label = host.label[index]
        preceding = [(before, label)]
        if host.is_outermost_begin[index] and self._last_host != before:
            preceding.append((self._last_host, label))
        if host.waits_for_device[index] and self._last_ended >= 0:
            began = host.at_ns[host.partner[index]]
            if self.graph.at_ns[self._last_ended] > began:
                preceding.append((self._last_ended, BACK))
        moment = self.graph.add(host.at_ns[index], preceding)
        self._on_thread[thread] = self._last_host = moment
        if host.call[index] >= 0:
            self._launched[host.call[index]] = moment

    def _device_begins(self, index: int) -> None:
        device, stream = self._device, self._device.stream[index]
        preceding = [(self._launched.get(device.call[index], -1), LAUNCH)]
        if stream in self._on_stream:
            preceding.append((self._on_stream[stream], GAP))
        elif device.earlier_ns.get(stream, 0) > self.graph.at_ns[self._begin]:
            preceding.append((self._earlier(device.earlier_ns[stream]), GAP))
        preceding += [
            (moment, STREAM_WAIT)
            for other, (moment, call) in self._ended.items()
            if other != stream and self._is_awaited(call, device.call[index])
        ]
        self._started[index] = self.graph.add(device.start_ns[index], preceding)

    def _earlier(self, at_ns: int) -> int:
        return self.graph.add(at_ns, [(self._begin, EARLIER)])

    def _is_awaited(self, call: int, by: int) -> bool:
        """Whether the host called StreamWaitEvent between the two launches."""
        at = np.searchsorted(self._waits, call)
        return bool(at < len(self._waits) and self._waits[at] < by)

    def _device_ends(self, index: int) -> None:
        device = self._device
        if index not in self._started:  # it has no duration
            self._device_begins(index)
        preceding = [(self._started[index], device.label[index])]
        moment = self.graph.add(device.end_ns[index], preceding)
        self._on_stream[device.stream[index]] = self._last_ended = moment
        self._ended[device.stream[index]] = (moment, device.call[index])


def _on_device(work: Work, step: PathStep) -> _OnDevice:
    launched = _launched_ns(work)
    names = work.trace.names
    earlier: dict[int, int] = {}
    streams, ends = work.events["stream"].tolist(), work.end_ns.tolist()
    for index in np.flatnonzero(launched < step.start_ns).tolist():
        earlier[streams[index]] = max(ends[index], earlier.get(streams[index], 0))
    chosen = np.flatnonzero((launched >= step.start_ns) & (launched < step.end_ns)).tolist()
    kinds, numbers = work.events["category"].tolist(), work.events["name"].tolist()
    starts, calls = work.start_ns.tolist(), work.call.tolist()
    return _OnDevice(
        start_ns=[starts[each] for each in chosen], end_ns=[ends[each] for each in chosen],
        stream=[streams[each] for each in chosen], call=[calls[each] for each in chosen],
        label=[(_kind(kinds[each], names[numbers[each]]), names[numbers[each]]) for each in chosen],
        earlier_ns=earlier,
    )  # fmt: skip


def _launched_ns(work: Work) -> Ints:
    """When the call began. A stream keeps the order of its launches, so one whose call is not known
    was launched no earlier than those before it."""
    known = work.call >= 0
    found = np.full(len(work.events), -1, np.int64)
    found[known] = work.calls["start_ns"][work.call[known]]
    for stream in np.unique(work.events["stream"]):
        here = np.flatnonzero(work.events["stream"] == stream)
        found[here] = np.where(known[here], found[here], np.maximum.accumulate(found[here]))
    return found


def _kind(category: int, name: str) -> PathKind:
    if category != Category.KERNEL:
        return "copy"
    return "communication" if is_collective(name) else "kernel"


def _waits(work: Work) -> list[int]:
    """The calls that make one stream wait for another, by their place among the calls."""
    wanted = [n for n, name in enumerate(work.trace.names) if "StreamWaitEvent" in name]
    return np.flatnonzero(np.isin(work.calls["name"], wanted)).tolist()


def _usual_launch_ns(work: Work) -> int:
    """From the begin of a call to the start of what it launched, where its stream had nothing to do
    then: the lower quartile, because other streams may have held some up; 0: none was alone."""
    alone: list[int] = []
    for stream in np.unique(work.events["stream"]):
        here = np.flatnonzero((work.events["stream"] == stream) & (work.call >= 0))
        launched = work.calls["start_ns"][work.call[here]]
        before = np.maximum.accumulate(np.append(0, work.end_ns[here][:-1])) if len(here) else here
        delays = (work.start_ns[here] - launched)[before <= launched]
        alone += delays[delays >= 0].tolist()
    return int(np.quantile(alone, 0.25, method="lower")) if alone else 0
