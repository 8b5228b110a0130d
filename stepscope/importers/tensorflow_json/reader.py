"""What their xplane has, in the form for viewers of Chrome's traces.

Events have no category. The name of the process says whether it is a device, and that of the thread
what its row shows. On the host, the arguments say which events are steps, and which are operations
of a compiled function. Such files hold at most a million events; the xplane beside them holds all.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.importers.columns import Columns
from stepscope.importers.kineto.reader import read_kineto
from stepscope.importers.kineto.text import TraceText
from stepscope.importers.runtime_names import (
    device_category,
    framework_of,
    host_category,
    instruction_name,
)
from stepscope.importers.trace import Category, Numbers, Trace

_DEVICE: Final = "/device:"
_STEP: Final = "ProfilerStep#"
_STEPS: Final = "steps"
_COPIES: Final = "memcpy"
# Rows that repeat what others show: modules, scopes, and operators by their framework's names.
_REPEATED: Final = ("xla modules", "framework", "source code", "tensorflow ", "scope", "async")
_MOST_EVENTS: Final = 1_000_000


class _Args(msgspec.Struct, gc=False):
    step_num: int | str | None = None
    hlo_op: str | None = None


class _Event(msgspec.Struct, gc=False):
    ph: str = ""
    args: _Args | None = None


def read_tensorflow_json(path: Path) -> Trace:
    trace = read_kineto(path)
    names: Numbers[str] = Numbers({name: number for number, name in enumerate(trace.names)})
    before = list(trace.names)
    events = trace.columns.expanded()
    has_steps = _sort_out(trace, events, before, names)
    _read_arguments(trace.path, events, names, has_steps)
    trace.events = Columns.of(events).as_table()
    trace.names = list(names)
    trace.framework = framework_of(before)
    if len(trace.events) >= _MOST_EVENTS:
        trace.notes.append(
            f"{path.name} may not have all events: such files end after a million. The xplane.pb "
            "beside it has all."
        )
    return trace


def _sort_out(
    trace: Trace, events: npt.NDArray[Any], before: list[str], names: Numbers[str]
) -> bool:
    """What each event is, from the row that it is in; and whether a device has a row of steps."""
    has_steps = False
    for number, thread in enumerate(trace.threads):
        here = np.flatnonzero(events["thread"] == number)
        process, row = thread.process_name or "", (thread.name or "").lower()
        on_device = process.startswith(_DEVICE)
        has_steps |= on_device and row.startswith(_STEPS) and len(here) > 0
        _name(events, here, before, names, on_device, row)
        if on_device:
            events["device"][here], events["stream"][here] = _device_number(process), number
    return has_steps


def _name(
    events: npt.NDArray[Any], here: npt.NDArray[np.intp], before: list[str], names: Numbers[str],
    on_device: bool, row: str,
) -> None:  # fmt: skip
    of_event = events["name"][here]
    for name in np.unique(of_event).tolist():
        mine = here[of_event == name]
        category, shown = _what(before[name], on_device, row)
        events["category"][mine], events["name"][mine] = category, names[shown]


def _what(name: str, on_device: bool, row: str) -> tuple[Category, str]:
    if not on_device:
        return host_category(name)
    if row.startswith(_STEPS):
        return Category.ANNOTATION, f"{_STEP}{name}"
    if row.startswith(_REPEATED):
        return Category.OTHER, name
    return device_category(name, _COPIES in row), name


def _device_number(process: str) -> int:
    """2 of "/device:GPU:2 (pid 3)"."""
    last = process.partition(" ")[0].rpartition(":")[2]
    return int(last) if last.isdecimal() and len(last) < 6 else 0


def _read_arguments(
    path: Path, events: npt.NDArray[Any], names: Numbers[str], has_steps: bool
) -> None:
    """Steps that the host marks, and operations that it computes."""
    found = list(_arguments(path))
    if len(found) != len(events):  # damaged ones were left out in one reading only
        return
    for index, args in enumerate(found):
        if args is None:
            continue
        event = events[index]
        if args.step_num is not None and not has_steps:
            event["category"], event["name"] = Category.ANNOTATION, names[_marked(args.step_num)]
        elif args.hlo_op and event["device"] < 0:
            event["category"], event["name"] = Category.OP, names[instruction_name(args.hlo_op)]


def _marked(step: int | str) -> str:
    return f"{_STEP}{step}"


def _arguments(path: Path) -> Iterator[_Args | None]:
    for events in TraceText(path, _Event):
        for event in events:
            if event.ph == "X":
                yield event.args
