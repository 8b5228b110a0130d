"""Which events of an xplane belong together, as XProf groups them: everything that a step caused.

1. A file may have group ids (`group_id`). Otherwise:
2. An event is a child of the one around it on its thread; of the one that produced what it consumes
   (`_p` to `_c`); and fetching a batch is a child of the executor's work on the same step.
3. A root is an event marked as one (`_r`), or as a step by its number alone, as Keras' TensorBoard
   callback does; functions that run inside tf.data are none. Starting with the highest level and
   the earliest event, a root without a root of its level above it makes a group of itself and
   everything that is reached from it.
"""

import collections
import dataclasses
import functools
from typing import Any, Final

import numpy as np

from stepscope.clock import Ints
from stepscope.importers import runtime_names as words
from stepscope.importers.causes import Causes, HostEvents
from stepscope.importers.xplane.device_groups import device_events
from stepscope.importers.xplane.planes import Plane, XSpace
from stepscope.importers.xplane.trace import host_planes

_FETCHES: Final = ("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute")
_LEGACY_ROOT: Final = "TraceContext"
_MOST_CONNECTED: Final = 64
_NONE: Final = -1
_STATS: Final = {
    "group": "group_id", "root": "_r", "producer_kind": "_pt", "producer": "_p",
    "consumer_kind": "_ct", "consumer": "_c", "step_id": "id", "iteration": "iter_num",
    "correlation": "correlation_id", "is_async": "_a", "step_num": "step_num",
}  # fmt: skip


@functools.lru_cache(maxsize=4)
def causes_of(space: XSpace) -> Causes:
    host = host_events(space)
    return Causes(host, device_events(space, host))


def host_events(space: XSpace) -> HostEvents:
    names: list[str] = []
    columns: dict[str, list[Ints]] = collections.defaultdict(list)
    threads = 0
    for plane in host_planes(space):
        events = plane.events
        columns["name"].append(events["name"].astype(np.int64) + len(names))
        columns["thread"].append(events["line"].astype(np.int64) + threads)
        columns["start"].append(events["start_ns"])
        columns["end"].append(events["start_ns"] + events["duration_ns"])
        for column, key in _STATS.items():
            columns[column].append(plane.integers(key))
        columns["step_name"].append(_has_text(plane, "step_name"))
        names += plane.names
        threads += len(plane.lines)
    joined = {
        key: np.concatenate(parts) if parts else np.zeros(0, np.int64)
        for key, parts in columns.items()
    }
    for key in ("name", "thread", "start", "end", *_STATS, "step_name"):
        joined.setdefault(key, np.zeros(0, np.int64))
    order = np.lexsort((-joined["end"], joined["start"], joined["thread"]))
    joined = {key: column[order] for key, column in joined.items()}
    parent = _parents(joined)
    stats = {key: joined[key] for key in (*_STATS, "step_name")}
    ungrouped = HostEvents(
        names, joined["name"], joined["thread"], joined["start"], joined["end"], stats, parent,
        joined["group"], {},
    )  # fmt: skip
    if (joined["group"] >= 0).any():
        return ungrouped
    group, roots = _Groups(ungrouped).made()
    return dataclasses.replace(ungrouped, group=group, roots=roots)


def _has_text(plane: Plane, key: str) -> Ints:
    return (plane.texts(key)[0] >= 0).astype(np.int64)


def _parents(columns: dict[str, Ints]) -> Ints:
    """The event around each on its thread; async events have no parent and contain no others."""
    found: list[int] = []
    stack: list[tuple[int, int]] = []
    thread = None
    rows = (columns[key].tolist() for key in ("thread", "end", "is_async"))
    for index, (of, end, is_async) in enumerate(zip(*rows, strict=True)):
        if of != thread:
            thread, stack = of, []
        if is_async > 0:
            found.append(_NONE)
            continue
        while stack and end > stack[-1][1]:
            stack.pop()
        found.append(stack[-1][0] if stack else _NONE)
        stack.append((index, end))
    return np.array(found, np.int64)


class _Groups:
    def __init__(self, events: HostEvents) -> None:
        self._events = events
        self._below: dict[int, list[int]] = collections.defaultdict(list)
        self._above: dict[int, list[int]] = collections.defaultdict(list)
        for child, parent in enumerate(events.parent.tolist()):
            if parent >= 0:
                self._connect(parent, child)
        self._connect_produced()
        self._connect_fetches()
        self._group = np.full(len(events), _NONE, np.int64)

    def made(self) -> tuple[Ints, dict[int, int]]:
        roots: dict[int, int] = {}
        for root in self._roots():
            if self._group[root] < 0 and not self._has_root_above(root):
                self._spread(root, len(roots))
                roots[len(roots)] = root
        return self._group, roots

    def _connect(self, parent: int, child: int) -> None:
        self._below[parent].append(child)
        self._above[child].append(parent)

    def _connect_produced(self) -> None:
        producers = self._by_key("producer_kind", "producer")
        consumers = self._by_key("consumer_kind", "consumer")
        for key, makers in producers.items():
            takers = consumers.get(key, [])
            if len(makers) < _MOST_CONNECTED or len(takers) < _MOST_CONNECTED:
                for maker in makers:
                    for taker in takers:
                        self._connect(maker, taker)

    def _by_key(self, kind: str, number: str) -> dict[tuple[int, int], list[int]]:
        """Ids are unsigned: as signed numbers they may be negative, but hardly -1."""
        kinds, numbers = self._events.stats[kind], self._events.stats[number]
        found: dict[tuple[int, int], list[int]] = collections.defaultdict(list)
        for index in np.flatnonzero((kinds >= 0) & (numbers != _NONE)).tolist():
            found[int(kinds[index]), int(numbers[index])].append(index)
        return found

    def _connect_fetches(self) -> None:
        stats = self._events.stats
        known = (stats["step_id"] != _NONE) & (stats["iteration"] >= 0)
        executors: dict[tuple[int, int], int] = {}
        for index in np.flatnonzero(known & self._events.named(words.PROCESS)).tolist():
            executors[int(stats["step_id"][index]), int(stats["iteration"][index])] = index
        for index in np.flatnonzero(known & self._events.named(*_FETCHES)).tolist():
            key = int(stats["step_id"][index]), int(stats["iteration"][index])
            if key in executors:
                self._connect(executors[key], index)

    def _roots(self) -> list[int]:
        events, stats = self._events, self._events.stats
        of_input = stats["step_id"][events.named(words.CAPTURED) & (stats["step_id"] != _NONE)]
        is_unsaid = events.named(_LEGACY_ROOT) | (stats["step_num"] >= 0)
        level = np.where(is_unsaid & (stats["root"] < 0), 1, stats["root"])
        found = np.flatnonzero((level > 0) & ~np.isin(stats["step_id"], of_input))
        order = np.lexsort((events.start_ns[found], -level[found]))
        self._level = level
        roots: list[int] = found[order].tolist()
        return roots

    def _has_root_above(self, root: int) -> bool:
        level, seen, queue = self._level[root], {root}, list(self._above[root])
        while queue:
            node = queue.pop()
            if node in seen:
                continue
            if self._level[node] == level:
                return True
            seen.add(node)
            queue += self._above[node]
        return False

    def _spread(self, root: int, group: int) -> None:
        queue: list[Any] = [root]
        while queue:
            node = queue.pop()
            if self._group[node] < 0:
                self._group[node] = group
                queue += self._below[node]
