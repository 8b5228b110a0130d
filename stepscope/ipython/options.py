"""A magic's line: options, parsed by click, and the statement after them, unchanged."""

import re
import shlex
from typing import Any, Final

import click
from IPython.core.error import UsageError

# Closed quotes hold words together; in a statement quotes may be anything.
_WORD: Final = re.compile(r"""(?:"[^"]*"|'[^']*'|\S)+""")


def command(name: str, *options: click.Parameter) -> click.Command:
    """The statement starts at the first word that is not an option."""
    statement = click.Argument(["statement"], nargs=-1, type=click.UNPROCESSED)
    return click.Command(
        name,
        params=[*options, statement],
        context_settings={"allow_interspersed_args": False, "help_option_names": []},
    )


def split(reader: click.Command, line: str) -> tuple[dict[str, Any], str]:
    """(options by name, statement)."""
    words = list(_WORD.finditer(line))
    try:
        context = reader.make_context(f"%{reader.name}", [_unquoted(word[0]) for word in words])
    except click.UsageError as error:
        raise UsageError(f"{error.format_message()} See %{reader.name}?") from error
    given = dict(context.params)
    rest = len(given.pop("statement"))
    return given, line[words[-rest].start() :].rstrip() if rest else ""


def text_to_run(name: str, statement: str, cell: str | None) -> str:
    """The cell, or else the statement."""
    if cell is not None and statement:
        raise UsageError(f"'{statement}' cannot follow %%{name}: put it into the cell.")
    text = statement if cell is None else cell
    if not text.strip():
        raise UsageError(f"Nothing to run: give %{name} a statement, or put %%{name} above a cell.")
    return text


def _unquoted(word: str) -> str:
    """As a shell would: `-o "my run"` is one word without quotes."""
    try:
        return "".join(shlex.split(word))
    except ValueError:  # an unclosed quote, in a statement
        return word
