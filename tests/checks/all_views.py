"""All that is shown about one run: every record, text and page, each made once."""

import dataclasses
import functools
import io
from pathlib import Path
from typing import Any

from rich.console import Console

from stepscope.analyze.run import load
from stepscope.model import StepsAnswer
from stepscope.model.findings import Finding
from stepscope.show.report.content import content
from stepscope.store.reader import Run
from stepscope.views import VIEWS

ROUNDING = 1e-6  # of a figure: sums of integers against means of floats
PAGE_WIDTH = 110


@dataclasses.dataclass(frozen=True)
class Views:
    """All that is shown about one run."""

    path: Path

    @functools.cached_property
    def run(self) -> Run:
        return load(self.path)

    @functools.cached_property
    def answers(self) -> dict[str, Any]:
        return {name: view.plain(self.run) for name, view in VIEWS.items()}

    @functools.cached_property
    def each(self) -> list[Any]:
        found = VIEWS["steps"].ask(self.run, each=True).each
        return found if isinstance(found, list) else []

    @functools.cached_property
    def page(self) -> Any:
        return content(self.run)

    def text(self, name: str) -> str:
        """What the terminal shows, in one line."""
        view, out = VIEWS[name], io.StringIO()
        beside = {other: self.answers[other] for other in view.drawn_beside}
        Console(file=out, width=PAGE_WIDTH).print(view.draw(self.answers[name], {}, **beside))
        return out.getvalue()

    @functools.cached_property
    def steps(self) -> StepsAnswer:
        found: StepsAnswer = VIEWS["steps"].ask(self.run)
        return found

    @functools.cached_property
    def shares(self) -> dict[str, float]:
        return {each.category: each.share for each in self.steps.breakdown or []}

    @property
    def findings(self) -> list[Finding]:
        found: list[Finding] = self.answers["findings"].findings
        return found


def near(one: float | None, other: float | None, within: float = ROUNDING) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= within * max(1.0, abs(one), abs(other))
