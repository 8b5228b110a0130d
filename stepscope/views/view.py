"""What a view is: one record that the command line, `Run`, the report, the exporters, the docs and
the tests read."""

import dataclasses
import importlib
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.store.reader import Run

Answer = TypeVar("Answer")
Key = Callable[[Any], Any]
Given = Mapping[str, Any]  # the options of `show` that were given, by name without dashes


@dataclasses.dataclass(frozen=True, kw_only=True)
class Option:
    """An option of `show` that only some views take."""

    flag: str
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    is_flag: bool = False
    repeated: bool = False
    parse: Callable[[str], Any] | None = None  # raises a ValueError that says what is wrong
    shows_all: bool = False  # what it selects is shown in full unless --top is given

    @property
    def name(self) -> str:
        return self.flag.removeprefix("--")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rows:
    """The list in an answer that --sort orders and --top cuts."""

    field: str
    sorts: Mapping[str, Key]  # numbers: the largest first; the first is the analysis's own order
    choose: Callable[[list[Any], Given], list[Any]] = lambda rows, given: rows
    shown_with: str | None = None  # the option that asks for them; None: they are always shown


def _nothing(given: Given) -> dict[str, Any]:
    return {}


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class View(Generic[Answer]):
    """A question that can be asked of a run.

    Functions are named as "module:function" below the package and loaded when they are needed, so
    that the list of all views costs nothing.
    """

    name: str
    question: str
    computed: str  # Run -> answer
    drawn: str  # answer -> what the terminal shows
    page: str  # of the report that shows the answer
    title: str = ""  # in the report's sentences, if the name alone is not enough
    words: str = ""  # what to type after `show`, if that is not the name
    rows: Rows | None = None
    top: int | None = None  # rows shown without --top; None: it is always short
    options: tuple[Option, ...] = ()
    asked_with: Callable[[Given], dict[str, Any]] = _nothing  # options for the analysis
    drawn_with: Callable[[Given], dict[str, Any]] = _nothing  # options for the terminal
    instead: Mapping[str, "View[Any]"] = dataclasses.field(default_factory=dict)  # by option
    takes_traces: bool = False  # also for a trace that another tool wrote
    sees_others: bool = False  # a process is shown with its workers, a rank with the others
    tables: tuple[str, ...] = ()  # in exports as csv and parquet
    drawn_beside: tuple[str, ...] = ()  # views whose answers the drawing also gets, by name
    names_report: bool = False  # ends with where the report is

    @property
    def spelled(self) -> str:
        return self.words or self.name

    @property
    def titled(self) -> str:
        return self.title or self.name.capitalize()

    @property
    def answer_type(self) -> type[Answer]:
        found: type[Answer] = typing.get_type_hints(_loaded(self.computed))["return"]
        return found

    @property
    def row_type(self) -> Any:
        """The type of its rows."""
        field = self.rows.field if self.rows else ""
        (row,) = typing.get_args(typing.get_type_hints(self.answer_type)[field])
        return row

    def ask(self, run: "Run", **how: Any) -> Answer:
        answer: Answer = _loaded(self.computed)(run, **how)
        return answer

    def plain(self, run: "Run") -> Answer:
        """As `show` asks without options."""
        return self.ask(run, **self.asked_with({}))

    def rows_of(self, answer: Answer) -> list[Any] | None:
        """None if it has no rows, or they were not asked for."""
        rows = getattr(answer, self.rows.field) if self.rows else None
        return rows if isinstance(rows, list) else None

    def takes(self, option: str) -> bool:
        return any(each.name == option for each in self.options)

    def meant_by(self, given: Given) -> "View[Any]":
        """Itself, or the view that an option selects instead."""
        return next((view for name, view in self.instead.items() if name in given), self)

    def draw(self, answer: Answer, given: Given, **beside: Any) -> "RenderableType":
        drawing: RenderableType = _loaded(self.drawn)(
            answer, **self._top(given), **self.drawn_with(given), **beside
        )
        return drawing

    def _top(self, given: Given) -> dict[str, int]:
        whole = any(option.shows_all and option.name in given for option in self.options)
        top = given.get("top", None if whole else self.top)
        return {} if top is None else {"top": top}


def _loaded(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(f"stepscope.{module}"), name)
    return function
