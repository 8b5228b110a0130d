"""What it gains to prepare samples once, before the training, and not again in every epoch.

The function with the hottest line of the loading can be called ahead of time, with all that it
does, unless it draws random numbers: then its result is another one each time.
"""

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.random_calls import random_line
from stepscope.advise.evidence.source import last_line
from stepscope.advise.gain.less_loading import LessLoading
from stepscope.advise.gain.saving import MOST_INSTEAD, Saving
from stepscope.analyze.input.loaders import find_loader
from stepscope.analyze.input.loading_code import loading
from stepscope.model import InputAnswer, InputLine


def prepared_samples(
    case: Case, answer: InputAnswer, hottest: InputLine | None
) -> LessLoading | None:
    """None: no line is known, or none whose result could be kept."""
    loader = find_loader(case.run, case.process, case.steps)
    if loader is None or hottest is None or _draws(case, hottest):
        return None
    loads_in = loader.processes if loader.workers else [case.process]
    loaded = loading(loads_in, in_workers=bool(loader.workers))
    if not loaded.batches or not loaded.ns:
        return None
    load_ns = loaded.ns / loaded.batches
    function = min(1.0, sum(each.share for each in answer.lines if _is_beside(each, hottest)))
    least = (1 - MOST_INSTEAD) * hottest.share
    return LessLoading(load_ns, Saving.part_of(load_ns, expected=function, least=least))


def _is_beside(line: InputLine, hottest: InputLine) -> bool:
    return (line.file, line.function) == (hottest.file, hottest.function)


def _draws(case: Case, line: InputLine) -> bool:
    text = case.code.sources.text(line.file)
    around = [
        each
        for each in (text.functions() if text else ())
        if each.lineno <= line.line <= last_line(each)
    ]
    innermost = max(around, key=lambda each: each.lineno, default=None)
    return innermost is not None and random_line(innermost, case.code.sources) is not None
