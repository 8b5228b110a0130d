"""What it gains to write a loop over elements that loads a batch as array operations."""

import dataclasses

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.code import StepLine
from stepscope.advise.evidence.hot_loops import HotLoop, hot_loops
from stepscope.advise.evidence.source import Sources
from stepscope.advise.gain.less_loading import LessLoading
from stepscope.advise.gain.vectorised import Line, vectorised
from stepscope.analyze.code.lines import lines
from stepscope.analyze.input.loaders import find_loader
from stepscope.analyze.input.loading_code import Loading, generating, loading
from stepscope.model import InputAnswer


def loading_loop(case: Case, answer: InputAnswer) -> LessLoading | None:
    """The loop that takes most of the loading, if one takes much of it."""
    loaded = _loaded(case)
    if loaded is None or not loaded.batches or not loaded.ns:
        return None
    places = {(each.file, each.function) for each in answer.lines}
    by_batch = [
        line
        for line in _by_batch(case, loaded)
        if (line.function.file, line.function.function) in places
    ]
    process = loaded.processes[0]
    sources = Sources([line.function for line in by_batch], case.run, process)
    found = hot_loops(sources, by_batch, case.machine.with_core)
    if not found:
        return None
    loop = max(found, key=lambda each: each.ns)
    saved = vectorised(loop.ns, lines_of(sources, loop, by_batch, case.machine.with_core))
    recorded_ns = loop.recorded_ns(process.info, by_batch)
    saved = dataclasses.replace(saved, recorded_ns=recorded_ns)
    return LessLoading(loaded.ns / loaded.batches, saved, loop)


def _loaded(case: Case) -> Loading | None:
    loader = find_loader(case.run, case.process, case.steps)
    if loader is None:
        return generating(case.run, case.process, len(case.steps))
    loads_in = loader.processes if loader.workers else [case.process]
    return loading(loads_in, in_workers=bool(loader.workers))


def _by_batch(case: Case, loaded: Loading) -> list[StepLine]:
    run = dataclasses.replace(case.run, processes=loaded.processes)
    return [
        StepLine(
            function, row, row.ns / loaded.batches, (row.likely_hits or row.hits) / loaded.batches
        )
        for function in lines(run).functions
        for row in function.lines
    ]


def lines_of(
    sources: Sources, loop: HotLoop, among: list[StepLine], with_core: float
) -> list[Line]:
    """Those in the loop, as on a machine of its own."""
    text = sources.text(loop.function.function.file)
    return [
        Line(
            with_core * line.ns,
            line.hits,
            max(1, text.operations(line.row.line) if text else 1),
        )
        for line in loop.own(among)
    ]
