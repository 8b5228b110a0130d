"""The processes of a run in the order in which they are drawn, all on one clock."""

import dataclasses

from stepscope.analyze.lifetimes import recorded_stretch_ns
from stepscope.store.reader import ProcessData, Run


@dataclasses.dataclass(frozen=True, eq=False)
class Member:
    """A process on the timeline; `zero_ns` is the timeline's beginning on its own clock."""

    run: Run
    process: ProcessData
    zero_ns: int

    @property
    def zero_unix_ns(self) -> int:
        return self.process.clock.wall_ns(self.zero_ns)

    @property
    def ended_ns(self) -> int:
        """When the process ended, on the timeline."""
        return recorded_stretch_ns(self.run, self.process)[1] - self.zero_ns

    @property
    def role(self) -> str:
        """`main`, `rank 3`, `worker of rank 3`."""
        info = self.process.info
        if info.role == "worker" and info.rank is not None:
            return f"worker of rank {info.rank}"
        return f"rank {info.rank}" if info.role == "rank" else info.role

    @property
    def pid(self) -> int:
        return self.process.info.pid

    @property
    def rank(self) -> int | None:
        return self.process.info.rank

    @property
    def host(self) -> str:
        return self.process.info.host

    def thread_name(self, thread: int) -> str:
        """Empty: not known which."""
        if not thread:
            return ""
        known = self.process.names.threads.get(thread)
        return known.name if known and known.name else f"thread {thread}"

    def thread_of_native(self, native_id: str) -> str | None:
        """The name of the thread with this id of the system, which traces use."""
        for known in self.process.names.threads.values():
            if str(known.native_id) == native_id and known.name:
                return known.name
        return None


@dataclasses.dataclass(frozen=True, eq=False)
class OneClock:
    """`base_ns`: when the first process started, in Unix time."""

    base_ns: int
    members: list[Member]


def on_one_clock(run: Run, *, most: int | None = None) -> OneClock:
    """`most`: at most this many processes, the first in order."""
    ordered = _in_order(run)[:most]
    clocks = _clocks(ordered)
    begun = (recorded_stretch_ns(run, each)[0] + clocks[each.info.host] for each in ordered)
    base_ns = min(begun, default=0)
    return OneClock(
        base_ns, [Member(run, each, base_ns - clocks[each.info.host]) for each in ordered]
    )


def _in_order(run: Run) -> list[ProcessData]:
    """Each rank, then its workers."""
    rank_of = {each.info.pid: each.info.rank for each in run.processes if each.info.rank}

    def order(each: ProcessData) -> tuple[bool, int, bool, int]:
        rank = each.info.rank or rank_of.get(each.info.parent_pid or 0) or 0
        return each is not run.main, rank, each.info.role == "worker", each.start_ns

    return sorted(run.processes, key=order)


def _clocks(processes: list[ProcessData]) -> dict[str, int]:
    """For each host, what to add to its monotonic time to get Unix time."""
    clocks: dict[str, int] = {}
    for each in processes:
        clocks.setdefault(each.info.host, each.clock.wall_ns(0))
    return clocks
