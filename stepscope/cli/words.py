"""What the command line says beside its pages: sentences on stderr, JSON on stdout."""

import sys
from typing import Any

import click

from stepscope.spelled_out import json_spelled_out, spelled_out


def say(sentence: str, *, prefix: str = "stepscope: ") -> None:
    """Sentences quote paths and names, which are only text."""
    click.echo(prefix + spelled_out(sentence), err=True)


def print_text(text: str) -> None:
    click.echo(spelled_out(text))


def print_json(answer: Any) -> None:
    import msgspec

    text = msgspec.json.encode(answer)
    if sys.stdout.isatty():
        text = msgspec.json.format(text, indent=2)
    click.echo(json_spelled_out(text))
