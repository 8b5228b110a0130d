"""Which event caused which, if the trace says so: everything that a step caused is one group."""

import dataclasses

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints


@dataclasses.dataclass(frozen=True, eq=False)
class HostEvents:
    """The events of all host threads, sorted by thread and start, longer ones first."""

    names: list[str]
    name: Ints
    thread: Ints
    start_ns: Ints
    end_ns: Ints
    stats: dict[str, Ints]
    parent: Ints  # the innermost event around each on its thread; -1: none
    group: Ints  # -1: none
    roots: dict[int, int]  # for each group made here, the event that it began with

    def __len__(self) -> int:
        return len(self.name)

    def named(self, *beginnings: str) -> npt.NDArray[np.bool_]:
        found = np.array([name.startswith(beginnings) for name in self.names], np.bool_)
        here: npt.NDArray[np.bool_] = found[self.name] if len(found) else np.zeros(0, np.bool_)
        return here


@dataclasses.dataclass(frozen=True, eq=False)
class DeviceEvents:
    """What ran on the devices, with its group."""

    names: list[str]
    name: Ints
    group: Ints
    start_ns: Ints
    end_ns: Ints
    spans: dict[int, tuple[int, int]]  # by group: the longest stretch that a device worked on it

    def __len__(self) -> int:
        return len(self.name)


@dataclasses.dataclass(frozen=True, eq=False)
class Causes:
    host: HostEvents
    device: DeviceEvents
