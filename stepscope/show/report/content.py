"""All that the page shows of a run, put together from the answers."""

import datetime
import importlib.util
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from stepscope.advise.findings import findings as find
from stepscope.analyze.answers.actions import actions
from stepscope.analyze.answers.facts import facts
from stepscope.analyze.answers.files import files
from stepscope.analyze.answers.headline import headline
from stepscope.analyze.answers.input import input as input_answer
from stepscope.analyze.answers.memory import memory
from stepscope.analyze.answers.processes import processes
from stepscope.analyze.answers.ranks import ranks
from stepscope.analyze.answers.recorded import recorded
from stepscope.analyze.answers.regions import regions
from stepscope.analyze.answers.step_columns import step_columns
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.answers.trees import trees
from stepscope.analyze.code.function_numbers import FunctionNumbers
from stepscope.analyze.code.functions import functions
from stepscope.analyze.code.lines import lines
from stepscope.analyze.code.source_texts import source_texts
from stepscope.analyze.operators.device import device
from stepscope.analyze.operators.kernels import kernels
from stepscope.analyze.operators.operators import ops
from stepscope.analyze.run import Run
from stepscope.analyze.timeline.run_timeline import RunTimeline, run_timeline
from stepscope.errors import StepscopeError
from stepscope.model.categories import CATEGORY_WORDS
from stepscope.model.ops import OpsAnswer
from stepscope.show.report.functions import function_table
from stepscope.show.report.lines import file_lines
from stepscope.show.report.shapes import Content
from stepscope.show.report.without_source import without_source

_MOST_OPS: Final = 1_500
_MOST_PLACES: Final = 20
_MOST_FILES: Final = 1_000

Progress = Callable[[str], None]  # told what is being worked out

_T = TypeVar("_T")


class _Asker:
    """Asks one question after the other: a damaged part costs its own page, not the report."""

    def __init__(self, progress: Progress) -> None:
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


def content(
    run: Run,
    *,
    with_source: bool = True,
    timeline: Callable[[], RunTimeline] | None = None,
    findings: Any = None,
    progress: Progress = lambda what: None,
) -> Content:
    """What the page shows. `timeline`, `findings`: where the caller needs or has them, too."""
    ask = _Asker(progress)
    told = summary(run)
    by_line = lines(run)
    numbers = FunctionNumbers()
    called = ask("Functions", lambda: trees(run, numbers))
    table = ask("Functions", lambda: function_table(functions(run), numbers, ask.reduced))
    times = ask("The timeline", timeline or (lambda: run_timeline(run)))
    advice = ask("Findings", lambda: findings or find(run))
    whole = Content(
        facts=facts(run),
        verdict=headline(told, advice).sentence,
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
        ops=_few_ops(ask("Operators", lambda: ops(run)), ask.reduced, "operators"),
        ops_by_shape=_few_ops(
            ask("Operators", lambda: ops(run, by_shape=True)), ask.reduced, "operators by shape"
        ),
        kernels=ask("Kernels", lambda: kernels(run)),
        device=ask("The device", lambda: device(run)),
        input=ask("Input", lambda: input_answer(run)),
        files=_few_files(ask("Files", lambda: files(run)), ask.reduced),
        memory=ask("Memory", lambda: memory(run)),
        ranks=ask("Ranks", lambda: ranks(run)),
        processes=ask("Processes", lambda: processes(run)),
        regions=ask("Regions", lambda: regions(run)),
        actions=ask("Actions", lambda: actions(run)),
        timeline=ask("The timeline", times.whole) if times else None,
        reduced=ask.reduced,
        trouble=ask.trouble,
        made=datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        can_try=importlib.util.find_spec("stepscope.trial") is not None,
    )
    return whole if with_source else without_source(whole)


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
