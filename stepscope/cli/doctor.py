"""`stepscope doctor`: what works on this machine, and why the rest does not."""

import dataclasses
import json
from typing import Final

import click

from stepscope.cli.doctor_checks import Check, all_checks
from stepscope.errors import EnvironmentTrouble

_MARKS: Final = {"ok": ("ok", "green"), "limited": ("limited", "yellow"), "failed": ("no", "red")}


@click.command("doctor", short_help="Say what works on this machine, and why the rest does not.")
@click.argument("folder", default=".", metavar="[FOLDER]")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def command(folder: str, as_json: bool) -> int:
    """Say what works on this machine, and why the rest does not.

    FOLDER is where runs would be written; by default the current one. The exit status is 0 when
    stepscope can record here.

    \b
    Examples:
      stepscope doctor                           this machine, this folder
      stepscope doctor /scratch/runs             would runs be recorded there?
      stepscope doctor --json                    for another program
    """
    checks = all_checks(folder)
    failed = [check for check in checks if check.state == "failed"]
    if as_json:
        rows = [dataclasses.asdict(check) for check in checks]
        click.echo(json.dumps({"ok": not failed, "checks": rows}))
    else:
        _print_page(checks)
    return EnvironmentTrouble.exit_status if failed else 0


def _print_page(checks: list[Check]) -> None:
    from rich.table import Table
    from rich.text import Text

    from stepscope.show.terminal.drawing.page import print_view

    table = Table.grid(padding=(0, 2, 0, 0))
    for check in checks:
        mark, style = _MARKS[check.state]
        words = Text(check.found)
        if check.advice:
            words.append("\n" + check.advice, style="dim" if check.state == "ok" else style)
        table.add_row(Text(mark, style=style), Text(check.name, style="bold"), words)
    print_view(table)
