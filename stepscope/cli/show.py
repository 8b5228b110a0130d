"""`stepscope show`: what a run tells, as a page or as JSON."""

import dataclasses
import importlib
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

from stepscope.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

VIEWS: Final = ("summary", "steps", "lines", "regions", "files", "memory", "processes")
UNITS_S: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_DEFAULT_TOP: Final = {"lines": 10, "steps": 50}  # rows; the other views are short by nature


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """What was asked for, after the words are sorted out."""

    run: str | None
    view: str
    as_json: bool
    top: int | None
    sort: str | None
    process: int | None
    rank: int | None
    functions: tuple[str, ...]
    files: tuple[str, ...]
    unit_s: float | None
    each: bool


def _unit(ctx: click.Context, _: click.Parameter, value: str | None) -> float | None:
    if value is None or value in UNITS_S:
        return UNITS_S[value] if value else None
    try:
        unit_s = float(value)
    except ValueError:
        unit_s = 0.0
    if unit_s <= 0:
        raise click.BadParameter(f"'{value}' is none of s, ms, us, ns, nor a number of seconds.")
    return unit_s


@click.command("show", short_help="Show what a run tells.")
@click.argument("words", nargs=-1, metavar="[RUN] [WHAT]")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.option("--top", type=click.IntRange(min=0), help="At most that many rows; 0: all.")
@click.option("--sort", metavar="COLUMN", help="Order of the rows: time, hits, name, ...")
@click.option("--process", type=int, metavar="PID", help="Only this process.")
@click.option("--rank", type=int, metavar="N", help="Only this rank.")
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="NAME",
    help="lines: only this function, plain or qualified name; may be repeated.",
)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="GLOB",
    help="lines: only files that match; may be repeated.",
)
@click.option(
    "--unit",
    "unit_s",
    callback=_unit,
    metavar="UNIT",
    help="lines: s, ms, us, ns, or a number of seconds such as 1e-6.",
)
@click.option("--each", is_flag=True, help="steps: every step by itself.")  # fmt: skip
def command(words: tuple[str, ...], **options: Any) -> None:
    """Show what a run tells: summary (the default), steps, lines, regions, files, memory or
    processes.

    RUN is a run folder; without it, the newest one in ./stepscope-runs is taken.
    """
    run, view = sort_out(words)
    request = Request(run=run, view=view, **options)
    _require_fitting(request)
    answer = ask(request)
    if request.as_json:
        print_json(answer, request)
    else:
        _print_page(answer, request)


def sort_out(words: tuple[str, ...]) -> tuple[str | None, str]:
    """(run, view) from `show`, `show RUN`, `show WHAT` and `show RUN WHAT`."""
    if len(words) > 2:
        raise InputError(
            f"Too many words: '{' '.join(words)}'. It is: stepscope show [RUN] [WHAT]."
        )
    if not words:
        return None, "summary"
    if len(words) == 2:
        run, view = words
        if view not in VIEWS:
            raise InputError(f"There is no view '{view}'. There are: {', '.join(VIEWS)}.")
        return run, view
    if words[0] in VIEWS:
        return None, words[0]
    if not os.path.exists(words[0]) and os.sep not in words[0]:
        raise InputError(
            f"'{words[0]}' is neither a run folder nor a view. Views: {', '.join(VIEWS)}."
        )
    return words[0], "summary"


def _require_fitting(request: Request) -> None:
    """An option that the view does not know is a mistake, not a wish to ignore."""
    given = {
        "--function": (bool(request.functions), "lines"),
        "--file": (bool(request.files), "lines"),
        "--unit": (request.unit_s is not None, "lines"),
        "--each": (request.each, "steps"),
    }
    for option, (is_given, view) in given.items():
        if is_given and request.view != view:
            raise InputError(f"{option} belongs to 'stepscope show {view}', not '{request.view}'.")


def ask(request: Request) -> Any:
    """The answer from the analysis, cut down to what was asked for."""
    from stepscope.analyze.run import load, newest_run
    from stepscope.show.selection import Selection, only, select

    whole = load(request.run if request.run is not None else newest_run())
    run = only(whole, process=request.process, rank=request.rank)
    module = importlib.import_module(f"stepscope.analyze.{request.view}")
    answer_to: Callable[..., Any] = getattr(module, request.view)
    answer = answer_to(run, each=True) if request.each else answer_to(run)
    selection = Selection(functions=request.functions, files=request.files, sort=request.sort)
    return select(request.view, answer, selection)


def print_json(answer: Any, request: Request) -> None:
    """The answer and nothing else; rows are cut only when --top says so."""
    import msgspec

    from stepscope.show.selection import ROWS

    field = ROWS[request.view][0] if request.view in ROWS else None
    rows = getattr(answer, field) if field else None
    if request.top and isinstance(rows, list) and field:
        answer = msgspec.structs.replace(answer, **{field: rows[: request.top]})
    text = msgspec.json.encode(answer)
    if sys.stdout.isatty():
        text = msgspec.json.format(text, indent=2)
    click.echo(text)


def _print_page(answer: Any, request: Request) -> None:
    from stepscope.show.terminal.page import print_view

    print_view(page_of(answer, request))


def page_of(answer: Any, request: Request) -> "RenderableType":
    module = importlib.import_module(f"stepscope.show.terminal.{request.view}")
    draw: Callable[..., RenderableType] = getattr(module, request.view)
    if request.view == "summary":
        return draw(answer)
    top = request.top
    if top is None and not (request.functions or request.files):
        top = _DEFAULT_TOP.get(request.view)
    if request.view == "lines":
        return draw(answer, top=top, unit_s=request.unit_s)
    return draw(answer, top=top)
