"""What the step gains when a batch takes less time to load.

Without workers the step is shorter by that. With workers it waits for less: the steps are played
through with what is left of the loading.
"""

import dataclasses

import numpy as np

from stepscope.advise.evidence.hot_loops import HotLoop
from stepscope.advise.gain.overlap import Overlap
from stepscope.advise.gain.saving import Saving


@dataclasses.dataclass(frozen=True)
class LessLoading:
    load_ns: float  # of a batch, all of it
    saved: Saving  # of a batch
    loop: HotLoop | None = None  # by batch: what takes most of it, if a loop over elements does

    def in_step(self, wait_ns: float) -> Saving:
        """Where the step loads its batch itself, for `wait_ns`."""
        return _times(self.saved, min(1.0, wait_ns / max(1.0, self.load_ns)))

    def in_reader(self, wait_ns: float) -> Saving:
        """Where a pipeline calls a reader of the user's, and the step waits for nothing else. What
        is known of it are its shares: calls as short as these are not all counted."""
        load_ns = max(1.0, self.load_ns, self.loop.ns if self.loop else 0.0)
        return _times(self.saved, wait_ns / load_ns)

    def in_workers(self, overlap: Overlap, workers: int, step_ns: float) -> Saving:
        """Where workers load it."""
        saved = [
            step_ns * (1 - _without(overlap, part / self.load_ns).now_ns(workers) / now)
            for now in [overlap.now_ns(workers)]
            for part in (self.saved.expected, self.saved.least, self.saved.most or 0.0)
        ]
        expected, least, most = (max(0.0, each) for each in saved)
        return Saving(expected=expected, least=least, most=max(most, expected))


def _times(saving: Saving, part: float) -> Saving:
    most = None if saving.most is None else part * saving.most
    return dataclasses.replace(
        saving,
        expected=part * saving.expected,
        least=part * saving.least,
        most=most,
        recorded_ns=part * saving.recorded_ns,
    )


def _without(overlap: Overlap, part: float) -> Overlap:
    left = max(0.0, 1 - part)
    return dataclasses.replace(
        overlap,
        load_ns=np.asarray(left * overlap.load_ns),
        load_cpu_ns=left * overlap.load_cpu_ns,
    )
