"""Everything that the page shows about a run, collected from the answers."""

import datetime
import importlib.util
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from stepscope.analyze.answers.facts import facts
from stepscope.analyze.answers.headline import headline
from stepscope.analyze.answers.next_questions import next_questions
from stepscope.analyze.answers.recorded import recorded
from stepscope.analyze.answers.step_columns import step_columns
from stepscope.analyze.answers.trees import trees
from stepscope.analyze.code.function_numbers import FunctionNumbers
from stepscope.analyze.code.hottest_lines import LEAST_SHARE_OF_RUN
from stepscope.analyze.code.line_samples import line_samples
from stepscope.analyze.code.source_texts import source_texts
from stepscope.analyze.run import Run
from stepscope.analyze.timeline.run_timeline import RunTimeline, run_timeline
from stepscope.errors import StepscopeError
from stepscope.model.categories import CATEGORY_WORDS, LEAST_SHARE
from stepscope.model.comparison import ComparisonAnswer
from stepscope.model.nothing_to_show import NOTHING_TO_SHOW
from stepscope.model.ops import OpsAnswer
from stepscope.model.ranks import RanksAnswer
from stepscope.model.trial import TrialAnswer
from stepscope.show.report.functions import function_table
from stepscope.show.report.lines import file_lines
from stepscope.show.report.shapes import WHOLE_ANSWERS, Content, content_type
from stepscope.show.report.without_source import without_source
from stepscope.views.findings import FINDINGS
from stepscope.views.functions import FUNCTIONS
from stepscope.views.lines import LINES
from stepscope.views.ops import OPS
from stepscope.views.summary import SUMMARY
from stepscope.views.view import View

_MOST_OPS: Final = 1_500
_MOST_PLACES: Final = 20
_MOST_FILES: Final = 1_000

Progress = Callable[[str], None]  # called with what is being computed

_T = TypeVar("_T")


class _Asker:
    """Asks one question after the other: damaged data costs its own page, not the whole report."""

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
            self.trouble.append(f"{what} cannot be shown: {type(error).__name__}: {error}")
        return None

    def answer(self, view: View[_T], **how: Any) -> _T | None:
        return self(view.titled, lambda: view.ask(self._run, **how))


def content(
    run: Run,
    *,
    with_source: bool = True,
    timeline: Callable[[], RunTimeline] | None = None,
    findings: Any = None,
    compare: ComparisonAnswer | None = None,
    trial: TrialAnswer | None = None,
    progress: Progress = lambda what: None,
) -> Content:
    """What the page shows. `timeline`, `findings`: given if the caller has or needs them, too;
    `compare`: with another run; `trial`: of fixes."""
    ask = _Asker(run, progress)
    overview = SUMMARY.ask(run)
    by_line = LINES.ask(run)
    numbers = FunctionNumbers()
    called = ask("Functions", lambda: trees(run, numbers))
    table = ask("Functions", lambda: function_table(FUNCTIONS.ask(run), numbers, ask.reduced))
    times = ask("The timeline", timeline or (lambda: run_timeline(run)))
    advice = findings or ask.answer(FINDINGS)
    answers = _answers(ask)
    whole = content_type()(
        facts=facts(run),
        verdict=headline(overview, advice).sentence,
        summary=overview,
        words=CATEGORY_WORDS,
        least_share=LEAST_SHARE,
        least_line_share=LEAST_SHARE_OF_RUN,
        nothing=NOTHING_TO_SHOW,
        recorded=recorded(run),
        steps=ask("Steps", lambda: step_columns(run)) if overview.steps.steps else None,
        findings=advice,
        next=next_questions(overview, advice),
        lines=file_lines(by_line),
        sources=source_texts(run, by_line),
        called=list(numbers),
        trees=called or [],
        functions=table,
        **answers,
        straggler=_straggler(answers["ranks"]),
        timeline=ask("The timeline", times.whole) if times else None,
        reduced=ask.reduced,
        trouble=ask.trouble,
        made=datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        compare=compare,
        trial=trial,
        line_samples=ask("The samples of lines", lambda: line_samples(run)) or [],
        can_try=importlib.util.find_spec("stepscope.trial") is not None,
    )
    return whole if with_source else without_source(whole)


def _answers(ask: _Asker) -> dict[str, Any]:
    """By name of view, with the rows that the page has room for."""
    found = {view.name: ask.answer(view) for view in WHOLE_ANSWERS}
    by_shape, by_module = ask.answer(OPS, by_shape=True), ask.answer(OPS, by_module=True)
    return found | {
        "ops": _few_ops(found["ops"], ask.reduced, "operators"),
        "ops_by_shape": _few_ops(by_shape, ask.reduced, "operators by shape"),
        "ops_by_module": _few_ops(by_module, ask.reduced, "modules"),
        "files": _few_files(found["files"], ask.reduced),
    }


def _straggler(answer: RanksAnswer | None) -> str | None:
    return answer.straggler.sentence if answer and answer.straggler else None


# --- limits, so that the file stays small ---------------------------------------------------------


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
    reduced.append(f"Of {len(answer.files):,} files the {_MOST_FILES:,} slowest are here.")
    return msgspec.structs.replace(answer, files=answer.files[:_MOST_FILES])
