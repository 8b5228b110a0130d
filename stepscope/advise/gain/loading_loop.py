"""What it gains to write a loop over elements that loads a batch as array operations.

Without workers the step is shorter by what the loop took beyond that. With workers it waits for
less: the steps are played through with what is left of the loading.
"""

import dataclasses

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.code import StepLine
from stepscope.advise.evidence.hot_loops import HotLoop, hot_loops
from stepscope.advise.evidence.source import Sources
from stepscope.advise.gain.overlap import Overlap
from stepscope.advise.gain.saving import Saving
from stepscope.advise.gain.vectorised import Line, vectorised
from stepscope.analyze.code.lines import lines
from stepscope.analyze.input.loaders import find_loader
from stepscope.analyze.input.loading_code import Loading, loading
from stepscope.model import InputAnswer


@dataclasses.dataclass(frozen=True)
class LoadingLoop:
    loop: HotLoop  # by batch
    load_ns: float  # of a batch, all of it
    saved: Saving  # of a batch

    def in_step(self, wait_ns: float) -> Saving:
        """Where the step loads its batch itself, for `wait_ns`."""
        return _times(self.saved, min(1.0, wait_ns / max(1.0, self.load_ns)))

    def in_workers(self, overlap: Overlap, workers: int, step_ns: float) -> Saving:
        """Where workers load it."""
        saved = [
            step_ns * (1 - _without(overlap, part / self.load_ns).step_ns(workers) / now)
            for now in [overlap.step_ns(workers)]
            for part in (self.saved.expected, self.saved.least, self.saved.most or 0.0)
        ]
        expected, least, most = (max(0.0, each) for each in saved)
        return Saving(expected=expected, least=least, most=max(most, expected))


def loading_loop(case: Case, answer: InputAnswer) -> LoadingLoop | None:
    """The loop that takes most of the loading, if one takes much of it."""
    loader = find_loader(case.run, case.process, case.steps)
    if loader is None:
        return None
    loads_in = loader.processes if loader.workers else [case.process]
    loaded = loading(loads_in, in_workers=bool(loader.workers))
    if not loaded.batches or not loaded.ns:
        return None
    places = {(each.file, each.function) for each in answer.lines}
    by_batch = [
        line
        for line in _by_batch(case, loaded)
        if (line.function.file, line.function.function) in places
    ]
    process = loaded.processes[0]
    sources = Sources([line.function for line in by_batch], case.run, process)
    found = hot_loops(sources, by_batch)
    if not found:
        return None
    loop = max(found, key=lambda each: each.ns)
    saved = vectorised(loop.ns, _lines(sources, loop, by_batch, case.machine.with_core))
    recorded_ns = loop.recorded_ns(process.info, by_batch)
    saved = dataclasses.replace(saved, recorded_ns=recorded_ns)
    return LoadingLoop(loop, loaded.ns / loaded.batches, saved)


def _by_batch(case: Case, loaded: Loading) -> list[StepLine]:
    run = dataclasses.replace(case.run, processes=loaded.processes)
    return [
        StepLine(function, row, row.ns / loaded.batches, row.hits / loaded.batches)
        for function in lines(run).functions
        for row in function.lines
    ]


def _lines(sources: Sources, loop: HotLoop, among: list[StepLine], with_core: float) -> list[Line]:
    text = sources.text(loop.function.function.file)
    return [
        Line(
            with_core * line.ns,
            line.hits,
            max(1, text.operations(line.row.line) if text else 1),
        )
        for line in loop.own(among)
    ]


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
