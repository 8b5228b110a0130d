"""`stepscope show`: what a run tells, as a page or as JSON."""

import dataclasses
import functools
import importlib
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

from stepscope.cli import report
from stepscope.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.store.reader import Run

VIEWS: Final = (
    "summary", "findings", "steps", "lines", "functions", "regions", "actions", "ops", "kernels",
    "device", "input",
    "files", "memory", "ranks", "processes",
)  # fmt: skip
# A process asked for comes with its workers, a rank with those that it is compared to.
_WITH_OTHERS: Final = ("input", "ranks")
# These can also be asked of a trace that another tool wrote.
_OF_TRACES: Final = ("findings", "steps", "ops", "kernels", "device", "input")
UNITS_S: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_DEFAULT_TOP: Final = {
    "lines": 10,
    "steps": 50,
    "functions": 40,
    "ops": 40,
    "kernels": 40,
}  # rows; the other views are short by nature


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
    callers: tuple[str, ...] = ()
    callees: tuple[str, ...] = ()
    tree: bool = False
    thread: str | None = None
    unfold: bool = False
    by: str | None = None
    scheme: str | None = None

    @property
    def question(self) -> str:
        """The analysis that answers it; the tree is another look at functions."""
        return "stacks" if self.tree else self.view


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
    help="lines, functions: only this one, plain or qualified name; may be repeated.",
)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="GLOB",
    help="lines, functions: only files that match; may be repeated.",
)
@click.option(
    "--unit",
    "unit_s",
    callback=_unit,
    metavar="UNIT",
    help="lines: s, ms, us, ns, or a number of seconds such as 1e-6.",
)
@click.option("--callers", multiple=True, metavar="NAME", help="functions: who called it.")
@click.option("--callees", multiple=True, metavar="NAME", help="functions: whom it called.")
@click.option("--tree", is_flag=True, help="functions: sampled stacks, who called whom.")
@click.option("--thread", metavar="NAME", help="--tree: only threads of this name or pattern.")
@click.option("--all", "unfold", is_flag=True,
              help="findings: those that gain little, too. --tree: library frames.")  # fmt: skip
@click.option("--each", is_flag=True, help="steps: every step by itself.")  # fmt: skip
@click.option("--by", type=click.Choice(["name", "shape"]),
              help="ops: one row a name, or a name and shape.")  # fmt: skip
@click.option("--scheme", type=click.Choice(["stepscope", "xprof"]),
              help="steps: the categories of the breakdown.")  # fmt: skip
def command(words: tuple[str, ...], **options: Any) -> None:
    """Show what a run tells: summary (the default), findings, steps, lines, functions, regions,
    actions, ops, kernels, device, input, files, memory, ranks or processes.

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
        "--function": (bool(request.functions), ("lines", "functions")),
        "--file": (bool(request.files), ("lines", "functions")),
        "--unit": (request.unit_s is not None, ("lines",)),
        "--each": (request.each, ("steps",)),
        "--by": (request.by is not None, ("ops",)),
        "--scheme": (request.scheme is not None, ("steps",)),
        "--callers": (bool(request.callers), ("functions",)),
        "--callees": (bool(request.callees), ("functions",)),
        "--tree": (request.tree, ("functions",)),
    }
    for option, (is_given, views) in given.items():
        if is_given and request.view not in views:
            owners = " and ".join(f"'stepscope show {view}'" for view in views)
            raise InputError(f"{option} belongs to {owners}, not '{request.view}'.")
    _require_fitting_tree(request)


def _require_fitting_tree(request: Request) -> None:
    if not request.tree and request.thread is not None:
        raise InputError("--thread belongs to 'stepscope show functions --tree'.")
    if request.unfold and not (request.tree or request.view == "findings"):
        raise InputError("--all belongs to 'show findings' and to 'show functions --tree'.")
    if request.tree and (request.functions or request.files or request.callers or request.callees):
        raise InputError("--tree shows whole stacks: it takes --thread, --all and --top only.")


def ask(request: Request) -> Any:
    """The answer from the analysis, cut down to what was asked for."""
    from stepscope.analyze.answers import answer_to
    from stepscope.show.selection import Selection, of_thread, only, select

    whole = _asked_of(request)
    asked = answer_to(request.question)
    if request.question in _WITH_OTHERS:
        answer = asked(whole, process=request.process, rank=request.rank)
        return select(request.question, answer, Selection(sort=request.sort))
    run = only(whole, process=request.process, rank=request.rank)
    draws_each = request.view == "steps" and not request.as_json  # as one line of the page
    how = _how(request) | ({"each": True} if request.each or draws_each else {})
    answer = asked(run, **how)
    names = request.functions + request.callers + request.callees
    selection = Selection(functions=names, files=request.files, sort=request.sort)
    answer = select(request.question, answer, selection)
    return of_thread(answer, request.thread) if request.tree else answer


@functools.lru_cache(maxsize=1)  # the summary's page asks for its findings, too
def _asked_of(request: Request) -> "Run":
    from stepscope.analyze.run import load, newest_run
    from stepscope.analyze.traces.foreign import load_any

    name = request.run if request.run is not None else newest_run()
    return load_any(name) if request.view in _OF_TRACES else load(name)


def _how(request: Request) -> dict[str, Any]:
    if request.view == "findings":
        return {"every": request.unfold}
    if request.view == "steps":
        return {"scheme": request.scheme or "stepscope"}
    return {"by_shape": True} if request.by == "shape" else {}


def print_json(answer: Any, request: Request) -> None:
    """The answer and nothing else; rows are cut only when --top says so."""
    import msgspec

    from stepscope.show.selection import ROWS

    field = ROWS[request.question][0] if request.question in ROWS else None
    rows = getattr(answer, field) if field else None
    if request.top and isinstance(rows, list) and field:
        answer = msgspec.structs.replace(answer, **{field: rows[: request.top]})
    text = msgspec.json.encode(answer)
    if sys.stdout.isatty():
        text = msgspec.json.format(text, indent=2)
    click.echo(text)


def _print_page(answer: Any, request: Request) -> None:
    from stepscope.show.terminal.page import print_view

    if request.view == "summary":
        _print_summary(answer, _asked_of(request))
    else:
        print_view(page_of(answer, request))


def _print_summary(answer: Any, run: "Run") -> None:
    """It begins with what to do, and ends with where the report is."""
    from stepscope.advise.findings import findings
    from stepscope.show.terminal.page import print_view
    from stepscope.show.terminal.summary import summary

    advice = findings(run)
    print_view(summary(answer, advice=advice))
    path = report.found_or_written(run, findings=advice)
    if path is not None:
        report.tell(path, stderr=False)


def page_of(answer: Any, request: Request) -> "RenderableType":
    if request.tree:
        from stepscope.show.terminal.tree import tree

        return tree(answer, top=request.top, unfold=request.unfold)
    module = importlib.import_module(f"stepscope.show.terminal.{request.view}")
    draw: Callable[..., RenderableType] = getattr(module, request.view)
    top = request.top
    if top is None and not (request.functions or request.files):
        top = _DEFAULT_TOP.get(request.view)
    if request.view == "lines":
        chosen = bool(request.functions or request.files)
        return draw(answer, top=top, unit_s=request.unit_s, hottest=not chosen)
    if request.view == "functions":
        relation = "callers" if request.callers else "callees" if request.callees else None
        return draw(answer, top=top, relation=relation)
    if request.view == "steps":
        return draw(answer, top=top, table=request.each)
    return draw(answer, top=top)
