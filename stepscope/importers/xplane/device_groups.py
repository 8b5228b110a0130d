"""What ran on the devices of an xplane, and for which step."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.importers.causes import DeviceEvents, HostEvents
from stepscope.importers.xplane.planes import Plane, XSpace
from stepscope.importers.xplane.trace import OPERATIONS, STEPS, STREAM, device_planes

_Spans = dict[int, tuple[int, int]]


def device_events(space: XSpace, host: HostEvents) -> DeviceEvents:
    names: list[str] = []
    parts: list[list[Ints]] = [[np.zeros(0, np.int64)] for _ in range(4)]
    spans: _Spans = {}
    for plane in device_planes(space):
        events, worked = _of_plane(plane, host)
        events[0] = events[0] + len(names)
        for column, part in zip(parts, events, strict=True):
            column.append(part)
        names += plane.shown_names
        for group, (start, end) in worked.items():
            before = spans.get(group, (0, 0))
            if end - start > before[1] - before[0]:
                spans[group] = start, end
    name, groups, start_ns, end_ns = (np.concatenate(column) for column in parts)
    return DeviceEvents(names, name, groups, start_ns, end_ns, spans)


def _of_plane(plane: Plane, host: HostEvents) -> tuple[list[Ints], _Spans]:
    """Name, group, start and end of what ran, and the first start and last end of each group."""
    events = plane.events
    start, end = events["start_ns"], events["start_ns"] + events["duration_ns"]
    lines = [line.name for line in plane.lines]
    work = [line.startswith(STREAM) or line == OPERATIONS[0] for line in lines]
    marks = np.array([line == STEPS for line in lines] or [False])[events["line"]]
    group = _groups(plane, host, marks)
    kept = np.array(work or [False])[events["line"]] & (group >= 0)
    bounds = marks if (marks & (group >= 0)).any() else kept
    spans: _Spans = {}
    for number in np.unique(group[bounds & (group >= 0)]).tolist():
        mine = bounds & (group == number)
        spans[number] = int(start[mine].min()), int(end[mine].max())
    name = events["name"].astype(np.int64)
    return [column[kept] for column in (name, group, start, end)], spans


def _groups(plane: Plane, host: HostEvents, marks: npt.NDArray[Any]) -> Ints:
    """From the file's group ids, else by the launching call, else by the device's own steps."""
    given = plane.integers("group_id")
    if (given >= 0).any():
        return given
    correlation = plane.integers("correlation_id")
    calls = np.flatnonzero((host.stats["correlation"] >= 0) & (host.group >= 0))
    if len(calls) and (correlation >= 0).any():
        calls = calls[np.argsort(host.stats["correlation"][calls], kind="stable")]
        numbers = host.stats["correlation"][calls]
        at = np.minimum(np.searchsorted(numbers, correlation), len(numbers) - 1)
        return np.where(numbers[at] == correlation, host.group[calls[at]], -1)
    steps = np.flatnonzero(marks)
    if not len(steps):
        return given
    steps = steps[np.argsort(plane.events["start_ns"][steps], kind="stable")]
    begin = plane.events["start_ns"][steps]
    at = np.searchsorted(begin, plane.events["start_ns"], side="right") - 1
    end = begin + plane.events["duration_ns"][steps]
    inside = (at >= 0) & (plane.events["start_ns"] < end[np.maximum(at, 0)])
    return np.where(inside, at, -1)
