"""One side of a comparison: a run, or several runs of the same script.

One run says little about what differs between equal runs; several show it.
"""

import dataclasses
import functools
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, geometric_mean

import numpy as np

from stepscope.analyze.answers.run_list import is_run
from stepscope.analyze.traces.foreign import is_trace, load_any
from stepscope.compare.recording import Recording, recording_of
from stepscope.errors import InputError
from stepscope.model import Spread
from stepscope.model.comparison import ComparedRun
from stepscope.store.reader import Run


@dataclasses.dataclass(frozen=True, eq=False)
class Side:
    name: str
    recordings: tuple[Recording, ...]  # at least one

    @property
    def first(self) -> Recording:
        return self.recordings[0]

    @property
    def is_trace(self) -> bool:
        return any(each.is_trace for each in self.recordings)

    @property
    def steps(self) -> int:
        """Measured ones."""
        return sum(len(each.each) for each in self.recordings)

    @functools.cached_property
    def mean_ns(self) -> float:
        """Each run counts as one, however many steps it has."""
        return _mean([each.mean_ns for each in self.recordings])

    @functools.cached_property
    def batch_size(self) -> float | None:
        sizes = [each.batch_size for each in self.recordings]
        known = [size for size in sizes if size is not None]
        return fmean(known) if len(known) == len(sizes) else None

    @property
    def is_busy(self) -> bool:
        return any(each.is_busy for each in self.recordings)

    @property
    def has_cpu_times(self) -> bool:
        return all(each.cpu_ns is not None for each in self.recordings)

    @property
    def without_core(self) -> float | None:
        known = [each.without_core for each in self.recordings if each.without_core is not None]
        return fmean(known) if known else None

    def described(self) -> ComparedRun:
        rates = [each.answer.rate for each in self.recordings if each.answer.rate is not None]
        by_sample = [rate.samples_per_s for rate in rates if rate.samples_per_s is not None]
        cpu = [float(each.cpu_ns.mean()) for each in self.recordings if each.cpu_ns is not None]
        peaks = [each.peak_bytes for each in self.recordings if each.peak_bytes is not None]
        return ComparedRun(
            run=self.name,
            steps=self.steps,
            step_ms=self._spread(),
            per_s=_mean([rate.per_s for rate in rates]),
            samples_per_s=_mean(by_sample) if len(by_sample) == len(rates) else None,
            batch_size=self.batch_size,
            cpu_ms=fmean(cpu) / 1e6 if self.has_cpu_times else None,
            without_core=self.without_core,
            peak_bytes=max(peaks, default=None),
            runs=len(self.recordings),
        )

    def _spread(self) -> Spread:
        ms = np.concatenate([each.duration_ns for each in self.recordings]) / 1e6
        p10, median, p90 = (float(value) for value in np.percentile(ms, [10, 50, 90]))
        return Spread(mean=self.mean_ns / 1e6, median=median, p10=p10, p90=p90)


def _mean(values: Sequence[float]) -> float:
    """As ratios are averaged; one value as it is, to the last bit."""
    return values[0] if len(values) == 1 else geometric_mean(values)


def open_side(path: str) -> Side:
    """A run, a trace that another tool wrote, or a folder of runs."""
    runs = [load_any(each) for each in runs_in(Path(path)) or [Path(path)]]
    return side_of(*runs, name=path)


def side_of(*runs: Run, name: str | None = None) -> Side:
    _require_same_script(runs, name)
    recordings = tuple(recording_of(run) for run in runs)
    return Side(name if name is not None else os.fspath(runs[0].path), recordings)


def runs_in(path: Path) -> list[Path]:
    """None in a run or a folder of traces, or in what is neither."""
    if not path.is_dir() or is_run(path) or is_trace(path):
        return []
    return sorted(each for each in path.iterdir() if each.is_dir() and is_run(each))


def _require_same_script(runs: tuple[Run, ...], name: str | None) -> None:
    scripts = {os.path.basename(run.info.script or "") or "another one" for run in runs}
    if len(scripts) > 1:
        raise InputError(
            f"'{name}' has runs of different scripts ({', '.join(sorted(scripts))}): name one run "
            "in it, or keep the runs of each script in a folder of their own."
        )
