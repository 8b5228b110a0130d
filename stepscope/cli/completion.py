"""`stepscope completion`: what a shell needs to complete our commands, options, views and paths."""

from typing import Final

import click
from click.shell_completion import CompletionItem, get_completion_class

SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_STEPSCOPE_COMPLETE"  # click looks for it


def paths(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Scripts and run folders: the shell completes them itself."""
    return [CompletionItem(begun, type="file")]


def views_and_paths(
    ctx: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    from stepscope.views import VIEWS

    views = [view for view in VIEWS.values() if begun and view.name.startswith(begun)]
    if not begun:
        views = list(VIEWS.values())
    found = [CompletionItem(view.name, help=view.question) for view in views]
    return found or paths(ctx, parameter, begun)


@click.command("completion", short_help="Print what completes our commands in a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print a script that completes commands, options, views and paths in SHELL.

    \b
    Examples:
      eval "$(stepscope completion bash)"    # in ~/.bashrc
      eval "$(stepscope completion zsh)"     # in ~/.zshrc, after compinit
      stepscope completion fish > ~/.config/fish/completions/stepscope.fish
    """
    from stepscope.cli.main import group

    completion = get_completion_class(shell)
    assert completion is not None  # click has all three
    # `source()` would start bash to look at its version: this may be made on another machine.
    maker = completion(group, {}, "stepscope", _VARIABLE)
    click.echo(maker.source_template % maker.source_vars())
