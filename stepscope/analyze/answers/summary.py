"""The whole run first, then its steps: where the time of the main process went."""

import datetime
import os

from stepscope.analyze.answers.processes import ending
from stepscope.analyze.answers.recorded_views import can_repeat, recorded_views
from stepscope.analyze.answers.run_parts import parts
from stepscope.analyze.answers.steps import no_steps, steps
from stepscope.analyze.answers.teardown import teardown_note
from stepscope.analyze.code.hottest_lines import COSTLY_SHARE, hottest_lines
from stepscope.analyze.code.lines import lines
from stepscope.analyze.imported.contents import contents
from stepscope.analyze.phases.without_core import note_without_core
from stepscope.analyze.run import all_notes
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.errors import DataError, InputError
from stepscope.model import StepsAnswer, SummaryAnswer
from stepscope.store.reader import Run


def summary(run: Run) -> SummaryAnswer:
    found = parts(run)
    hottest = hottest_lines(lines(run, COSTLY_SHARE))
    return SummaryAnswer(
        run=os.fspath(run.path),
        command=run.info.command,
        started=_started(run),
        ending=ending(run),
        wall_ns=sum(part.ns for part in found),
        parts=found,
        steps=_steps(run),
        hottest=[line.location for line in hottest],
        hottest_ns=[line.ns for line in hottest],
        processes=len(run.processes),
        notes=[*all_notes(run), *_about_steps(run), *filter(None, [teardown_note(run, found)])],
        hottest_source=[line.source for line in hottest],
        has=recorded_views(run),
        can_repeat=can_repeat(run),
        is_trace=run.is_trace,
        contents=contents(run) if run.is_trace else [],
        trace_ns=_trace_ns(run) if run.is_trace else 0,
        rank=run.main.info.rank if run.main is not None and len(run.processes) > 1 else None,
    )


def _trace_ns(run: Run) -> int:
    return max(0, run.main.end_ns - run.main.start_ns) if run.main is not None else 0


def _steps(run: Run) -> StepsAnswer:
    """A trace may have no marked steps; then the reason says so."""
    try:
        return steps(run)
    except (InputError, DataError) as error:
        return no_steps(str(error), None)


def _about_steps(run: Run) -> list[str]:
    if run.main is None or run.main.trace is not None:
        return []
    found = find_steps(run, run.main)
    if not len(found):
        return []
    return [note for note in (found.one_offs(run.main), note_without_core(run.main, found)) if note]


def _started(run: Run) -> str:
    """ISO 8601, local time with offset."""
    at_ns = run.info.started_realtime_ns
    if at_ns is None and run.main is not None:
        at_ns = run.main.info.started_realtime_ns
    try:
        moment = datetime.datetime.fromtimestamp((at_ns or 0) / 1e9).astimezone()
    except (OverflowError, OSError, ValueError):
        moment = datetime.datetime.fromtimestamp(0).astimezone()
    return moment.isoformat(timespec="seconds")
