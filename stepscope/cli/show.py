"""`stepscope show`: what a run recorded, as text or as JSON."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stepscope.cli import report
from stepscope.cli.chosen import bound_memory, chosen
from stepscope.cli.completion import views_and_paths
from stepscope.cli.engine import chosen_reader, engine_options
from stepscope.cli.words import print_json
from stepscope.errors import InputError
from stepscope.views import VIEWS, every_view
from stepscope.views.view import Given, Option, View

if TYPE_CHECKING:
    from stepscope.analyze.traces.side_by_side import Reader
    from stepscope.store.reader import Run

_Command = TypeVar("_Command", bound=Callable[..., Any])


class _Show(click.Command):
    """Its help lists the views."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Views"):
            formatter.write_dl([(view.name, view.question) for view in VIEWS.values()])
        super().format_options(ctx, formatter)


def _options_of_views(command: _Command) -> _Command:
    by_flag: dict[str, list[Option]] = {}
    for view in every_view():
        for option in view.options:
            known = by_flag.setdefault(option.flag, [])
            known += [] if option in known else [option]
    for flag, same in reversed(by_flag.items()):  # click lists the last one added first
        command = _click_option(flag, same)(command)
    return command


def _click_option(flag: str, same: list[Option]) -> Callable[[_Command], _Command]:
    """A flag may mean something different to each view: its help lists all meanings."""
    option = same[0]
    return click.option(
        flag,
        help=" ".join(f"{', '.join(_owners(each))}: {each.help}" for each in same),
        metavar=option.metavar,
        is_flag=option.is_flag or None,  # False: click takes '-1' for an option
        multiple=option.repeated,
        type=click.Choice(option.choices) if option.choices else None,
        callback=_parsed(option.parse) if option.parse else None,
    )


def _owners(option: Option) -> list[str]:
    return [view.spelled for view in every_view() if option in view.options]


def _parsed(parse: Callable[[str], Any]) -> Callable[..., Any]:
    def callback(ctx: click.Context, _: click.Parameter, value: str | None) -> Any:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return callback


@click.command("show", cls=_Show, short_help="Show what a run recorded.")
@click.argument("words", nargs=-1, metavar="[RUN] [WHAT]", shell_complete=views_and_paths)
@click.option("--json", is_flag=True, help="Print the answer as JSON.")
@click.option("--top", type=click.IntRange(min=0), help="At most this many rows; 0: all.")
@click.option("--sort", metavar="COLUMN", help="Order of the rows: time, hits, name, ...")
@click.option("--process", type=int, metavar="PID", help="Only this process.")
@click.option("--rank", type=int, metavar="N", help="Only this rank.")
@engine_options
@_options_of_views
def command(
    words: tuple[str, ...], engine: str | None, scheduler: str | None, **options: Any
) -> None:
    """Show what a run recorded. WHAT is a view: summary (the default) or another of those below.

    RUN is a run folder; by default the newest one in ./stepscope-runs. It may also be a file that
    another profiler wrote, or a folder with runs or traces, such as a log folder of TensorBoard:
    the newest is shown.

    \b
    Examples:
      stepscope show                             the newest run in short
      stepscope show findings                    what to change, and what that gains
      stepscope show before lines --top 30       the 30 hottest lines of one run
      stepscope show steps --each --json         every step, for another program
      stepscope show trace.json ops              a trace that torch.profiler wrote
    """
    name, asked = sort_out(words)
    path = _path_of(name)
    given = {each: value for each, value in options.items() if _is_given(value)}
    view = VIEWS[asked].meant_by(given)
    _require_fitting(view, [each for each in given if each not in VIEWS[asked].instead])
    bound_memory()
    run = _opened(view, path, chosen_reader(engine, scheduler))
    answer = _answer_of(view, run, given)
    if "json" in given:
        _print_json(view, answer, given)
    else:
        _print_page(view, answer, run, given)


def sort_out(words: tuple[str, ...]) -> tuple[str | None, str]:
    """(run, view) from `show`, `show RUN`, `show WHAT` and `show RUN WHAT`."""
    if len(words) > 2:
        raise InputError(
            f"Too many words: '{' '.join(words)}'. Usage: stepscope show [RUN] [WHAT]."
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


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value != ()


def _require_fitting(view: View[Any], names: list[str]) -> None:
    """An option that the view does not have is an error, and not ignored."""
    for name in names:
        takers = [each for each in every_view() if each.takes(name)]
        if takers and view not in takers:
            owners = " and ".join(f"'stepscope show {each.spelled}'" for each in takers)
            raise InputError(f"--{name} belongs to {owners}, not '{view.spelled}'.")
    if "sort" in names and not _is_sorted(view):
        sorted_ones = ", ".join(each.spelled for each in every_view() if _is_sorted(each))
        raise InputError(f"'{view.spelled}' has no rows to sort. These have: {sorted_ones}.")
    needed = view.rows.shown_with if view.rows is not None else None
    about_rows = next((name for name in ("sort", "top") if name in names), None)
    if needed is not None and needed not in names and about_rows is not None:
        raise InputError(
            f"--{about_rows} is about single rows, which '{view.spelled}' shows with --{needed} "
            "only."
        )


def _is_sorted(view: View[Any]) -> bool:
    return view.rows is not None and bool(view.rows.sorts)


def _path_of(name: str | None) -> Path:
    from stepscope.analyze.run import newest_run

    return chosen(name) if name is not None else newest_run()


def _opened(view: View[Any], path: Path, read: "Reader") -> "Run":
    from stepscope.analyze.answers.recorded_views import recorded_views
    from stepscope.analyze.traces.foreign import load_any

    run = load_any(path, read)
    there = recorded_views(run) if run.is_trace else []
    if run.is_trace and view.name not in there:
        raise InputError(
            f"'{path}' has nothing for 'show {view.spelled}': another tool recorded it. It has: "
            f"{', '.join(there)}."
        )
    return run


def _answer_of(view: View[Any], run: "Run", given: Given) -> Any:
    """The answer from the analysis, reduced to what was asked for."""
    from stepscope.show.selection import only, select

    who = {name: given.get(name) for name in ("process", "rank")}
    how = view.asked_with(given)
    answer = view.ask(run, **who, **how) if view.sees_others else view.ask(only(run, **who), **how)
    return select(view, answer, given)


def _print_json(view: View[Any], answer: Any, given: Given) -> None:
    """The answer and nothing else; rows are cut only when --top says so."""
    from stepscope.show.selection import first

    print_json(first(view, answer, given.get("top", 0)))


def _print_page(view: View[Any], answer: Any, run: "Run", given: Given) -> None:
    from stepscope.show.terminal.drawing.page import print_view

    beside = {name: VIEWS[name].plain(run) for name in view.drawn_beside}
    print_view(view.draw(answer, given, **beside))
    path = report.found_or_written(run, **beside) if view.names_report else None
    if path is not None:
        report.announce(path, stderr=False)
