"""How much memory a process had resident, from one measurement to the next."""

import numpy as np

from stepscope.clock import Ints
from stepscope.store.events import Memory


def peak_of(points: Memory) -> int:
    """The most that the process had resident, as far as is known. What the kernel says before the
    first measurement may be its parent's: a peak stays with what is forked."""
    resident, peak = points.resident_bytes.astype(np.int64), points.peak_bytes.astype(np.int64)
    own = peak[peak > peak[0]] if len(points) > 1 else peak
    return max(int(resident.max()), int(own.max(initial=0)))


def with_peaks(points: Memory, zero_ns: int) -> tuple[Ints, Ints]:
    """When, since `zero_ns`, and how many bytes. Where the peak rose between two measurements, the
    process had that much at some moment in between: the curve has it half-way."""
    at_ns, resident = points.at_ns - zero_ns, points.resident_bytes.astype(np.int64)
    peak = points.peak_bytes.astype(np.int64)
    if len(points) < 2:
        return at_ns, np.maximum(resident, peak)
    after = np.flatnonzero((np.diff(peak) > 0) & (peak[1:] > resident[1:])) + 1
    middle = (at_ns[after - 1] + at_ns[after]) // 2
    return np.insert(at_ns, after, middle), np.insert(resident, after, peak[after])


def highest(at_ns: Ints, resident: Ints, most: int) -> tuple[Ints, Ints]:
    """Few enough to draw: the largest value of each stretch, and the last one."""
    if len(at_ns) <= most:
        return at_ns, resident
    groups = np.array_split(np.arange(len(at_ns) - 1), most - 1)
    chosen = [int(group[np.argmax(resident[group])]) for group in groups] + [len(at_ns) - 1]
    return at_ns[chosen], resident[chosen]
