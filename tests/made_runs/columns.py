"""The store's named columns of an event, packed into the fields of its record."""

from typing import Final

from stepscope.store import format as fmt
from stepscope.store.events import (
    Costs,
    CpuTimes,
    Events,
    LineBegins,
    LoopStamps,
    Memory,
    Opens,
    Rests,
    Spans,
    StepMarks,
    Transfers,
    Windows,
)
from stepscope.store.format import SpanCategory

# Each column's field, and the bit at which it begins there. Times are in ticks there.
COLUMNS: Final[dict[type[Events], dict[str, tuple[str, int]]]] = {
    Spans: {
        "category": ("extra", 0),
        "samples": ("value0", 0),
        "number": ("value0", 0),
        "worker_pid": ("value0", 0),
        "generation": ("value0", 0),
        "freed_objects": ("value1", 0),
        "without_core_ns": ("value0", 0),
        "flags": ("value1", 0),
        "group": ("value1", 0),
        "updates": ("value1", 0),
        "loader": ("value1", fmt.LOADER_WORKERS_BITS),
        "loader_workers": ("value1", 0),
    },
    Opens: {"opened_at_ns": ("value0", 0), "is_writing": ("extra", 0)},
    Windows: {"is_scripts": ("extra", 0)},
    Rests: {"left_out": ("value0", 0)},
    StepMarks: {"who": ("extra", 0), "samples": ("value0", 0)},
    LoopStamps: {"line_before": ("extra", 0)},
    LineBegins: {"line": ("extra", 0)},
    CpuTimes: {
        "process_ns": ("end", 0),
        "thread_ns": ("value0", 0),
        "voluntary_switches": ("value1", 32),
        "involuntary_switches": ("value1", 0),
    },
    Transfers: {
        "read_bytes": ("end", 0),
        "written_bytes": ("value0", 0),
        "major_faults": ("value1", 0),
    },
    Memory: {
        "resident_bytes": ("end", 0),
        "peak_bytes": ("value0", 0),
        "run_delay_ns": ("value1", 0),
    },
    Costs: {
        "slow_ticks": ("end", 0),
        "line_events": ("value0", 0),
        "exit_events": ("value1", 0),
        "threads": ("extra", 0),
    },
}


def packed(table: type[Events], columns: dict[str, int]) -> dict[str, int]:
    """The fields of a record with these columns."""
    fields: dict[str, int] = {}
    for name, value in columns.items():
        field, bit = COLUMNS[table][name]
        if name == "samples" and columns.get("category") == SpanCategory.COMPUTE:
            field, bit = "value1", fmt.COMPUTE_SAMPLES_BIT
        fields[field] = fields.get(field, 0) | int(value) << bit
    return fields
