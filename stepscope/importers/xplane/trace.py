"""An xplane file in the common form of all traces: operators, kernels, copies and allocations.

1. On host threads, an operator is a TensorFlow operation, or an instruction of a program that XLA
   compiled for the CPU. What the runtime reports about itself is left out: most of it is waiting.
2. On a device, what ran on its streams (GPU) or its line of operations (TPU); loops and calls that
   only hold other operations are left out there.
3. A kernel has the correlation id of the call that launched it.
4. Operations of tf.data, and of the user's functions in it, run beside the steps: `is_input`.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.importers import runtime_names as words
from stepscope.importers.columns import Builder
from stepscope.importers.trace import (
    EVENT_DTYPE,
    FLOW_DTYPE,
    MEMORY_DTYPE,
    Category,
    Numbers,
    Shapes,
    Stack,
    Thread,
    Trace,
    no_events,
)
from stepscope.importers.xplane.hlo import Programs, programs
from stepscope.importers.xplane.planes import Plane, XSpace
from stepscope.importers.xplane.reader import read_xplane

HOST: Final = "/host:"
DEVICE: Final = "/device:"
_METADATA: Final = "/host:metadata"
STREAM: Final = "Stream"
STEPS: Final = "Steps"
OPERATIONS: Final = ("XLA Ops", "Async XLA Ops")
_INPUT_THREADS: Final = "tf_data"
_ON_DEVICE_MEMORY: Final = "GPU_"
_Mask = npt.NDArray[np.bool_]


def read_xplane_trace(path: Path) -> Trace:
    return trace_of(read_xplane(path))


def host_planes(space: XSpace) -> list[Plane]:
    """The planes with threads."""
    return [
        plane for plane in space.planes if plane.name.startswith(HOST) and plane.name != _METADATA
    ]


def device_planes(space: XSpace) -> list[Plane]:
    return [plane for plane in space.planes if plane.name.startswith(DEVICE)]


def trace_of(space: XSpace) -> Trace:
    maker = _Maker(programs(space))
    for plane in host_planes(space):
        maker.add_host(plane)
    for plane in device_planes(space):
        maker.add_device(plane)
    return maker.trace(space)


class _Maker:
    def __init__(self, made: Programs) -> None:
        self._programs = made
        self._names: Numbers[str] = Numbers()
        self._threads: Numbers[Thread] = Numbers()
        self._sources: Numbers[Stack] = Numbers()
        self._events = Builder(EVENT_DTYPE)
        self._memory: list[npt.NDArray[Any]] = []

    # --- hosts ---------------------------------------------------------------------------------

    def add_host(self, plane: Plane) -> None:
        known = [words.host_category(name) for name in plane.names]
        kinds = np.array([kind for kind, _ in known], np.int8)
        names = np.array([self._names[shown] for _, shown in known], np.int32)
        table = self._table(plane)
        table["category"] = kinds[plane.events["name"]]
        table["name"] = names[plane.events["name"]]
        table["correlation"] = plane.integers("correlation_id")
        is_other = table["category"] == Category.OTHER
        is_call = is_other & (table["correlation"] >= 0)
        table["category"][is_call] = Category.RUNTIME
        calls = np.array([self._names[words.call_name(name)] for name in plane.names], np.int32)
        table["name"][is_call] = calls[plane.events["name"]][is_call]
        table["category"][is_other & _is_marked(plane)] = Category.ANNOTATION
        self._add_instructions(plane, table)
        table["is_input"] = _is_input(plane)
        self._add_memory(plane, table)
        self._events.add(table[table["category"] != Category.MEMORY])

    def _table(self, plane: Plane) -> npt.NDArray[Any]:
        table = no_events(len(plane.events))
        table["start_ns"] = plane.events["start_ns"]
        table["duration_ns"] = plane.events["duration_ns"]
        threads = [
            self._threads[Thread(plane.name, _thread_id(line.id), line.name or None)]
            for line in plane.lines
        ]
        table["thread"] = np.array(threads, np.int32)[plane.events["line"]] if threads else 0
        return table

    def _add_instructions(self, plane: Plane, table: npt.NDArray[Any]) -> None:
        """Instructions of programs compiled for the CPU."""
        instruction, texts = plane.texts("hlo_op")
        module, modules = plane.texts("hlo_module")
        here = np.flatnonzero(instruction >= 0)
        if not len(here):
            return
        pairs, group = np.unique(np.stack([instruction[here], module[here]]), axis=1,
                                 return_inverse=True)  # fmt: skip
        names, sources = [], []
        for op, of in zip(*pairs.tolist(), strict=True):
            name, stack = self._made(modules[of] if of >= 0 else "", texts[op])
            names.append(self._names[name])
            sources.append(self._sources[stack] if stack else -1)
        table["category"][here] = Category.OP
        table["name"][here] = np.array(names, np.int32)[group.reshape(-1)]
        table["source"][here] = np.array(sources, np.int32)[group.reshape(-1)]

    def _made(self, module: str, instruction: str) -> tuple[str, Stack]:
        made = self._programs.get((module, instruction))
        if made is None:
            made = self._programs.get((module.partition("(")[0], instruction))
        if made is None or not made.operation:
            return words.instruction_name(instruction), made.stack if made else ()
        return words.framework_operator(made.operation), made.stack

    def _add_memory(self, plane: Plane, table: npt.NDArray[Any]) -> None:
        here = np.flatnonzero(table["category"] == Category.MEMORY)
        if not len(here):
            return
        sizes = np.abs(plane.integers("allocation_bytes", 0)[here])
        allocator, allocators = plane.texts("allocator_name")
        on_device = np.array([text.startswith(_ON_DEVICE_MEMORY) for text in allocators] + [False])
        freed = np.array([name == words.MEMORY[1] for name in plane.names])
        memory = np.zeros(len(here), MEMORY_DTYPE)
        memory["at_ns"] = table["start_ns"][here]
        memory["thread"] = table["thread"][here]
        memory["bytes"] = np.where(freed[plane.events["name"][here]], -sizes, sizes)
        memory["is_device"] = on_device[allocator[here]]
        memory["address"] = plane.integers("addr", 0)[here].astype(np.uint64)
        self._memory.append(memory)

    # --- devices -------------------------------------------------------------------------------

    def add_device(self, plane: Plane) -> None:
        lines = np.array([_is_work(line.name) for line in plane.lines], np.bool_)
        kept = lines[plane.events["line"]] if len(lines) else np.zeros(0, np.bool_)
        is_tpu = np.array([line.name in OPERATIONS for line in plane.lines], np.bool_)
        if is_tpu.any():
            is_async = np.array([line.name == OPERATIONS[1] for line in plane.lines], np.bool_)
            kept &= _holds_none(plane.events) | is_async[plane.events["line"]]
        if not kept.any():
            return
        table = self._table(plane)
        details, texts = plane.texts("memcpy_details")
        copied = np.array([words.copied_bytes(text) for text in texts] + [0], np.int64)
        shown = [words.instruction_name(name) if " = " in full or is_tpu.any() else name
                 for name, full in zip(plane.shown_names, plane.names, strict=True)]  # fmt: skip
        kinds = [
            (words.device_category(name, is_copy=False), words.device_category(name, is_copy=True))
            for name in shown
        ]
        by_name = np.array(kinds, np.int8).reshape(-1, 2)
        table["category"] = by_name[plane.events["name"], (details >= 0).astype(np.int64)]
        table["name"] = np.array([self._names[name] for name in shown])[plane.events["name"]]
        table["correlation"] = plane.integers("correlation_id")
        table["bytes"] = copied[details]
        table["stream"] = np.array([line.id for line in plane.lines])[plane.events["line"]]
        table["device"] = _device_number(plane.name)
        table["framework_op"] = self._by_text(plane, "tf_op", self._operator)
        stacks = self._by_text(plane, "source_stack", self._stack)
        table["source"] = np.where(stacks >= 0, stacks, self._by_text(plane, "source", self._stack))
        self._events.add(table[kept])

    def _by_text(self, plane: Plane, key: str, number: Any) -> Ints:
        index, texts = plane.texts(key)
        numbers = np.array([number(text) for text in texts] + [-1], np.int64)
        found: Ints = numbers[index]
        return found

    def _operator(self, text: str) -> int:
        return self._names[words.framework_operator(text)] if text else -1

    def _stack(self, text: str) -> int:
        stack = words.stack_of(text)
        return self._sources[stack] if stack else -1

    # --- all together --------------------------------------------------------------------------

    def trace(self, space: XSpace) -> Trace:
        memory = np.concatenate(self._memory) if self._memory else np.zeros(0, MEMORY_DTYPE)
        return Trace(
            path=space.path,
            names=list(self._names),
            threads=list(self._threads),
            shapes=[Shapes()],
            events=self._events.columns().as_table(),
            memory=memory,
            flows=np.zeros(0, FLOW_DTYPE),
            head={"hostnames": space.hosts},
            notes=list(space.notes),
            sources=list(self._sources),
            framework=words.framework_of(name for plane in space.planes for name in plane.names),
        )


def _thread_id(id: int) -> str:
    """The kernel's number if it is one: newer files have arbitrary 64-bit ids."""
    return str(id) if 0 <= id < 2**31 else f"#{id % 2**64:x}"


def _is_work(line: str) -> bool:
    """A device's line of what ran there; its other lines sum that up by step, module and name."""
    return line.startswith(STREAM) or line in OPERATIONS


def _device_number(plane: str) -> int:
    """3 of "/device:GPU:3"."""
    number = plane.rpartition(":")[2].partition(" ")[0]
    return int(number) if number.isdecimal() and len(number) < 9 else -1


def _is_marked(plane: Plane) -> _Mask:
    """Marked as a step or region by the script or a library."""
    internal = np.array([name.startswith(words.INTERNAL_ROOTS) for name in plane.names], np.bool_)
    marked = (plane.integers("step_num") >= 0) | (plane.integers("_r") >= 0)
    found: _Mask = marked & ~internal[plane.events["name"]]
    return found


def _is_input(plane: Plane) -> _Mask:
    """Events on a thread of tf.data, or inside a stage or a function that a stage calls."""
    events = plane.events
    stages = np.array(
        [name.startswith((words.ITERATOR, words.CAPTURED)) for name in plane.names], np.bool_
    )[events["name"]]
    captured = np.array([name.startswith(words.CAPTURED) for name in plane.names], np.bool_)
    process = np.array([name.startswith(words.PROCESS) for name in plane.names], np.bool_)
    step = plane.integers("id")  # any 64 bits
    of_stages = step[captured[events["name"]] & (step != -1)]
    stages |= process[events["name"]] & np.isin(step, of_stages)
    threads = np.array([line.name.startswith(_INPUT_THREADS) for line in plane.lines], np.bool_)
    found: _Mask = stages | (threads[events["line"]] if len(threads) else False)
    for line in np.unique(events["line"][stages]).tolist():
        here = np.flatnonzero(events["line"] == line)
        outer = here[stages[here]]
        found[here] |= _inside(events, here, outer)
    return found


def _inside(events: npt.NDArray[Any], which: Ints, outer: Ints) -> _Mask:
    """Which of these events begin inside the outer ones."""
    order = outer[np.argsort(events["start_ns"][outer], kind="stable")]
    start = events["start_ns"][order]
    end = np.maximum.accumulate(start + events["duration_ns"][order])
    at = np.searchsorted(start, events["start_ns"][which], side="right") - 1
    begins: _Mask = (at >= 0) & (events["start_ns"][which] < end[np.maximum(at, 0)])
    return begins


def _holds_none(events: npt.NDArray[Any]) -> _Mask:
    """Which events contain no other event of their line. Picoseconds were rounded: what is left
    without a duration, or begins in the last nanosecond of another one, is beside that."""
    end = events["start_ns"] + events["duration_ns"]
    order = np.lexsort((-end, events["start_ns"], events["line"]))
    order = order[events["duration_ns"][order] > 0]
    line, start, ends = events["line"][order], events["start_ns"][order], end[order]
    holds = np.zeros(len(events), np.bool_)
    holds[order[:-1]] = (
        (line[:-1] == line[1:]) & (start[1:] + 1 < ends[:-1]) & (ends[1:] <= ends[:-1])
    )
    return ~holds
