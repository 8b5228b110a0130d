"""All that the page shows of a run, put together from the answers."""

import datetime
import importlib.util
import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from stepscope.analyze.code.hottest_lines import HotLine
from stepscope.analyze.traces.foreign import is_trace
from stepscope.errors import StepscopeError
from stepscope.model import SummaryAnswer
from stepscope.model.ops import OpsAnswer
from stepscope.show.report.functions import Numbers, function_table
from stepscope.show.report.recorded import recorded
from stepscope.show.report.shapes import Content, Facts
from stepscope.show.report.sources import file_lines, source_texts
from stepscope.show.report.steps import step_columns
from stepscope.show.report.timeline import RunTimeline, run_timeline
from stepscope.show.report.trees import trees
from stepscope.show.report.without_source import without_source
from stepscope.show.terminal.hottest import headline
from stepscope.show.terminal.steps import CATEGORY_WORDS
from stepscope.store.reader import Run
from stepscope.views.actions import ACTIONS
from stepscope.views.device import DEVICE
from stepscope.views.files import FILES
from stepscope.views.findings import FINDINGS
from stepscope.views.functions import FUNCTIONS
from stepscope.views.input import INPUT
from stepscope.views.kernels import KERNELS
from stepscope.views.lines import LINES
from stepscope.views.memory import MEMORY
from stepscope.views.ops import OPS
from stepscope.views.processes import PROCESSES
from stepscope.views.ranks import RANKS
from stepscope.views.regions import REGIONS
from stepscope.views.summary import SUMMARY
from stepscope.views.view import View

_MOST_OPS: Final = 1_500
_MOST_PLACES: Final = 20
_MOST_FILES: Final = 1_000

Progress = Callable[[str], None]  # told what is being worked out

_T = TypeVar("_T")


class _Asker:
    """Asks one question after the other: a damaged part costs its own page, not the report."""

    def __init__(self, run: Run, progress: Progress) -> None:
        self._run = run
        self._progress = progress
        self.trouble: list[str] = []
        self.reduced: list[str] = []

    def __call__(self, what: str, ask: Callable[[], _T]) -> _T | None:
        self._progress(what)
        try:
            return ask()
        except StepscopeError as error:
            self.trouble.append(f"{what}: {error}")
        except Exception as error:
            self.trouble.append(f"{what} cannot be told: {type(error).__name__}: {error}")
        return None

    def answer(self, view: View[_T], **how: Any) -> _T | None:
        return self(view.titled, lambda: view.ask(self._run, **how))


def content(
    run: Run,
    *,
    with_source: bool = True,
    timeline: Callable[[], RunTimeline] | None = None,
    findings: Any = None,
    progress: Progress = lambda what: None,
) -> Content:
    """What the page shows. `timeline`, `findings`: where the caller needs or has them, too."""
    ask = _Asker(run, progress)
    told = SUMMARY.ask(run)
    by_line = LINES.ask(run)
    numbers = Numbers()
    called = ask("Functions", lambda: trees(run, numbers))
    table = ask("Functions", lambda: function_table(FUNCTIONS.ask(run), numbers, ask.reduced))
    times = ask("The timeline", timeline or (lambda: run_timeline(run)))
    advice = findings or ask.answer(FINDINGS)
    whole = Content(
        facts=_facts(run),
        verdict=_verdict(told, advice),
        summary=told,
        words=CATEGORY_WORDS,
        recorded=recorded(run),
        steps=ask("Steps", lambda: step_columns(run)) if told.steps.steps else None,
        findings=advice,
        lines=file_lines(by_line),
        sources=source_texts(run, by_line),
        called=list(numbers),
        trees=called or [],
        functions=table,
        ops=_few_ops(ask.answer(OPS), ask.reduced, "operators"),
        ops_by_shape=_few_ops(ask.answer(OPS, by_shape=True), ask.reduced, "operators by shape"),
        kernels=ask.answer(KERNELS),
        device=ask.answer(DEVICE),
        input=ask.answer(INPUT),
        files=_few_files(ask.answer(FILES), ask.reduced),
        memory=ask.answer(MEMORY),
        ranks=ask.answer(RANKS),
        processes=ask.answer(PROCESSES),
        regions=ask.answer(REGIONS),
        actions=ask.answer(ACTIONS),
        timeline=ask("The timeline", times.whole) if times else None,
        reduced=ask.reduced,
        trouble=ask.trouble,
        made=datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        can_try=importlib.util.find_spec("stepscope.trial") is not None,
    )
    return whole if with_source else without_source(whole)


def _facts(run: Run) -> Facts:
    info, machine = run.info, run.info.machine
    return Facts(
        name=os.path.basename(os.path.abspath(run.path)),
        path=os.fspath(run.path),
        script=info.script,
        cwd=info.cwd,
        host=machine.host,
        system=machine.system,
        cpu=machine.cpu,
        cores=machine.container_cores or machine.cores,
        memory_bytes=machine.container_memory_bytes or machine.memory_bytes,
        versions=info.versions,
        git=info.git,
        options=info.options,
        stepscope=str(info.versions.get("stepscope", "")),
        is_trace=is_trace(run.path),
    )


def _verdict(told: SummaryAnswer, findings: Any) -> str:
    """The one sentence: what to change; else the one line; else what most of each step is."""
    verdict = getattr(findings, "verdict", None)
    if isinstance(verdict, str) and verdict:
        return verdict
    sources = [*told.hottest_source, *([None] * len(told.hottest))]
    hot = [
        HotLine(location, ns, source)
        for location, ns, source in zip(told.hottest, told.hottest_ns, sources, strict=False)
    ]
    said = [text.plain for text in headline(hot, run_ns=told.wall_ns) if text.plain]  # type: ignore[union-attr]  # they are Texts
    if said:
        return " ".join(said[0].split())
    return _most_of_a_step(told)


def _most_of_a_step(told: SummaryAnswer) -> str:
    breakdown = told.steps.breakdown
    if not breakdown:
        return told.steps.reason or "Nothing stands out in this run."
    largest = max(breakdown, key=lambda share: share.share)
    words = CATEGORY_WORDS.get(largest.category, largest.category)
    return f"{largest.share:.0%} of each step: {words}"


# --- few enough for a file ------------------------------------------------------------------------


def _few_ops(answer: OpsAnswer | None, reduced: list[str], what: str) -> OpsAnswer | None:
    if answer is None:
        return None
    if len(answer.ops) > _MOST_OPS:
        reduced.append(f"Of {len(answer.ops):,} {what} the {_MOST_OPS:,} longest are here.")
    rows = [
        msgspec.structs.replace(row, locations=row.locations[:_MOST_PLACES])
        for row in answer.ops[:_MOST_OPS]
    ]
    return msgspec.structs.replace(answer, ops=rows)


def _few_files(answer: Any, reduced: list[str]) -> Any:
    if answer is None or len(answer.files) <= _MOST_FILES:
        return answer
    reduced.append(f"Of {len(answer.files):,} files the {_MOST_FILES:,} dearest are here.")
    return msgspec.structs.replace(answer, files=answer.files[:_MOST_FILES])
