"""What `show processes` answers."""

import msgspec

from stepscope.model import Process, Record


class ProcessRow(Record, frozen=True):
    process: Process
    parent_pid: int | None
    host: str
    argv: list[str]
    wall_ns: int
    cpu_ns: int | None
    read_bytes: int | None
    written_bytes: int | None
    voluntary_switches: int | None
    involuntary_switches: int | None
    peak_bytes: int | None
    threads: int
    status: str
    overhead_share: float | None
    notes: list[str]


class ProcessesAnswer(Record, frozen=True):
    processes: list[ProcessRow]
    notes: list[str] = msgspec.field(default_factory=list)
