"""A magic's line is options and a statement, and the statement stays as it was typed."""

import click
import pytest

pytest.importorskip("IPython", reason="IPython is not installed for this Python")

from IPython.core.error import UsageError

from stepscope.ipython.options import command, split

READER = command(
    "magic",
    click.Option(["-f", "functions"], multiple=True),
    click.Option(["-o", "output"]),
    click.Option(["-r", "wants"], is_flag=True),
)


@pytest.mark.parametrize(
    "statement",
    [
        "train(model, lr=0.1)",
        "x = {'a  b': 1}",
        """print("it's",   'a "b"')""",
        "print('no end",
        "-x if y else z",
        "f(-1, '-r')",
        "a;  b",
        "",
    ],
)
def test_the_statement_stays_as_it_was_typed(statement: str) -> None:
    separator = "-- " if statement.startswith("-") else ""
    given, rest = split(READER, f"-f work  -r -f Net.forward {separator}{statement}")
    assert rest == statement
    assert given == {"functions": ("work", "Net.forward"), "output": None, "wants": True}


def test_without_options_all_is_statement() -> None:
    given, rest = split(READER, "  work(3)  ")
    assert rest == "work(3)"
    assert given == {"functions": (), "output": None, "wants": False}


def test_quotes_hold_an_options_words_together() -> None:
    given, rest = split(READER, '-o "my run" work()')
    assert (given["output"], rest) == ("my run", "work()")


@pytest.mark.parametrize(("line", "word"), [("--colour red", "--colour"), ("-f", "-f")])
def test_a_mistake_is_named_and_the_help_too(line: str, word: str) -> None:
    with pytest.raises(UsageError, match=rf"{word}.* See %magic\?"):
        split(READER, line)
