"""`stepscope compare`: is it faster, by how much, how sure, and what made the difference."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli import report, sizes
from stepscope.cli.chosen import bound_memory, chosen, require_another_file
from stepscope.cli.completion import paths
from stepscope.cli.words import print_json, print_text, say
from stepscope.errors import InputError

if TYPE_CHECKING:
    from stepscope.model.comparison import ComparisonAnswer, ComparisonsAnswer
    from stepscope.store.reader import Run

_TOO_SLOW = 1


@click.command("compare", short_help="Is it faster? What made the difference?")
@click.argument("runs", nargs=-1, metavar="BEFORE AFTER [MORE]...", shell_complete=paths)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.option("--markdown", is_flag=True, help="Print it as Markdown, for a pull request.")
@click.option("--html", metavar="FILE", help="Also write the report of AFTER with this comparison.")
@click.option("--top", type=click.IntRange(min=0), help="At most this many rows; 0: all.")
@click.option("--fail-over", callback=sizes.optional_share, metavar="SHARE",
              help="Exit with 1 if AFTER is slower by more than this, beyond noise.")  # fmt: skip
def command(runs: tuple[str, ...], **given: Any) -> int:
    """Compare runs: each against the first.

    A run is a folder that 'stepscope run' made, a trace that another tool wrote, or a folder with
    several runs of the same script: those find smaller differences.

    \b
    Examples:
      stepscope compare before after             is it faster, by how much, and why
      stepscope compare before after --fail-over 5%     a gate for CI
      stepscope compare before after --markdown  for a pull request
      stepscope compare runs/before runs/after   folders with five runs each find 3 %
    """
    if len(runs) < 2:
        raise InputError("Give two runs: stepscope compare BEFORE AFTER.")
    if given["as_json"] and given["markdown"]:
        raise InputError("Choose one: --json or --markdown.")
    if given["html"] and len(runs) > 2:
        raise InputError("--html is for two runs: a report shows one comparison.")
    from stepscope.compare.compare import compare_all
    from stepscope.compare.side import open_side

    bound_memory()
    sides = [open_side(_chosen(run)) for run in runs]
    if given["html"]:
        require_another_file(
            given["html"], *(each.run for side in sides for each in side.recordings)
        )
    answers = compare_all(sides)
    _print(answers, given)
    if given["html"]:
        _write_report(given["html"], sides[1].first.run, answers.comparisons[0])
    limit = given["fail_over"]
    if limit is not None and any(is_slower(each, limit) for each in answers.comparisons):
        _say_which(answers, limit)
        return _TOO_SLOW
    return 0


def _chosen(path: str) -> str:
    """A folder of runs is a side; of a folder with traces the newest one is."""
    from stepscope.compare.side import runs_in

    return path if runs_in(Path(path)) else str(chosen(path))


def is_slower(answer: "ComparisonAnswer", limit: float) -> bool:
    """Beyond noise, and by more than `limit`: 0.05 is a step that takes 1.05 times as long."""
    return answer.significant and answer.decisive < 1 / (1 + limit)


def _print(answers: "ComparisonsAnswer", given: dict[str, Any]) -> None:
    """Two runs are one comparison; more are a table."""
    only = answers.comparisons[0] if len(answers.comparisons) == 1 else None
    if given["as_json"]:
        print_json(only or answers)
    elif given["markdown"]:
        from stepscope.show.markdown import comparison_page, comparisons_page

        print_text(comparison_page(only) if only else comparisons_page(answers))
    else:
        from stepscope.show.terminal.comparison import comparison, comparisons
        from stepscope.show.terminal.drawing.page import print_view

        print_view(comparison(only, top=given["top"]) if only else comparisons(answers))


def _write_report(path: str, run: "Run", answer: "ComparisonAnswer") -> None:
    from stepscope.show.report.content import content

    report.write_page(path, content(run, compare=answer))
    say(f"the comparison is in '{path}'.")


def _say_which(answers: "ComparisonsAnswer", limit: float) -> None:
    for run, each in zip(answers.runs[1:], answers.comparisons, strict=True):
        if is_slower(each, limit):
            slower = f"{100 * (1 / each.decisive - 1):.1f} %"
            say(f"'{run.run}' is {slower} slower, more than {100 * limit:g} %.")
