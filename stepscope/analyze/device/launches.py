"""How the host launches work: the calls it takes, and how long until what they launch begins.

As HolisticTraceAnalysis defines it: the delay is from the end of the call to the start of what it
launched, and 0 where that began before the call returned.
"""

from typing import Final

import numpy as np

from stepscope.analyze.traces.devices import Work
from stepscope.clock import Ints
from stepscope.model.device import LaunchStats

_SLOW_CALL_NS: Final = 50_000
_LATE_NS: Final = 100_000


def launches(works: list[Work]) -> LaunchStats | None:
    """None: the trace does not say which call launched what."""
    call_ns, delay_ns, ran_ns = (
        np.concatenate(each) for each in zip(*map(launch_times, works), strict=True)
    )
    if not len(call_ns):
        return None
    is_short = ran_ns < call_ns
    return LaunchStats(
        launches=len(call_ns),
        call_ns=int(call_ns.sum()),
        median_call_ns=int(np.median(call_ns)),
        median_delay_ns=int(np.median(delay_ns)),
        p90_delay_ns=int(np.quantile(delay_ns, 0.9)),
        max_delay_ns=int(delay_ns.max()),
        short_kernels=int(is_short.sum()),
        short_kernel_ns=int(ran_ns[is_short].sum()),
        short_call_ns=int(call_ns[is_short].sum()),
        slow_calls=int((call_ns > _SLOW_CALL_NS).sum()),
        late_starts=int((delay_ns > _LATE_NS).sum()),
    )


def launch_times(work: Work) -> tuple[Ints, Ints, Ints]:
    """For each launch: how long the call took, the delay, and how long it ran on the device."""
    known = work.call >= 0
    call = work.call[known]
    delay_ns = np.maximum(work.start_ns[known] - work.call_end_ns[call], 0)
    return work.calls["duration_ns"][call], delay_ns, work.events["duration_ns"][known]
