"""The `stepscope` command: loads the given verb, and prints errors in one line."""

import contextlib
import importlib
import io
import keyword
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from typing import Final

import click

from stepscope.cli.words import say
from stepscope.errors import InputError, InternalError, StepscopeError

VERBS: Final = (
    "run", "show", "compare", "try", "view", "export", "import", "doctor", "completion",
)  # fmt: skip
_INTERRUPTED: Final = 130  # 128 + SIGINT, as a shell reports it


class Verbs(click.Group):
    """Imports a verb's module when it is needed: `stepscope show` never loads the recorder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        file = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        command = importlib.import_module(f"stepscope.cli.{file}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            raise InputError(f"There is no command '{args[0]}'. {_instead(args)}")
        return super().resolve_command(ctx, args)


def _instead(typed: list[str]) -> str:
    """A script without `run` in front of it is the most likely slip."""
    import difflib

    if os.path.isfile(typed[0]):
        return f"To record a script: stepscope run {shlex.join(typed)}"
    alike = difflib.get_close_matches(typed[0], VERBS, n=1)
    return f"Did you mean '{alike[0]}'?" if alike else f"There are: {', '.join(VERBS)}."


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import version

    click.echo(f"stepscope {version('stepscope')}")
    ctx.exit()


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-v", "--verbose", is_flag=True, help="Print tracebacks of errors.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
    help="Print the version.",
)  # fmt: skip
@click.pass_context
def group(ctx: click.Context, verbose: bool) -> None:
    """Find out why training is slow, and prove the fix.

    \b
    stepscope run train.py --epochs 1    record a script, unedited
    stepscope show                       what the newest run recorded
    stepscope view                       the same in a browser
    stepscope try train.py               apply the fixes, and measure each
    """
    ctx.obj["verbose"] = verbose


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given: dict[str, bool] = {"verbose": False}
    try:
        status = group.main(args=arguments, prog_name="stepscope", obj=given, standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except StepscopeError as error:
        return _say(error, verbose=given["verbose"])
    except click.ClickException as error:
        text = io.StringIO()
        error.show(file=text)
        say(text.getvalue().rstrip("\n"), prefix="")
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except Exception as error:
        bug = InternalError(f"A bug in stepscope: {type(error).__name__}: {error}. Please report it"
                            " with what 'stepscope -v ...' prints.")  # fmt: skip
        bug.__cause__ = error
        return _say(bug, verbose=given["verbose"])


def _say(error: StepscopeError, *, verbose: bool) -> int:
    if verbose:
        say("".join(traceback.format_exception(error)).rstrip(), prefix="")
    else:
        say(str(error))
    return error.exit_status


def _reader_left() -> int:
    """`stepscope show | head`: be quiet now and when the interpreter closes stdout."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


if __name__ == "__main__":
    sys.exit(main())
