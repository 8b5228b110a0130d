"""`stepscope view`: the report in a browser, of one run or of a folder of them, live."""

import getpass
import os
import secrets
import socket
import sys
from pathlib import Path
from typing import Final

import click

from stepscope.cli.chosen import chosen
from stepscope.cli.completion import paths
from stepscope.cli.words import say
from stepscope.errors import DataError, EnvironmentTrouble, InputError

_DEFAULT_PORT: Final = 6100
_TRIED: Final = 50  # ports that are tried
_REMOTE: Final = ("SSH_CONNECTION", "SSH_CLIENT")


@click.command("view", short_help="Look at runs in a browser.")
@click.argument("path", required=False, metavar="[RUN|FOLDER|TRACE]", shell_complete=paths)
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Listen here. [127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N",
              help="Port; 0: any free one. [the first free one from 6100 on]")  # fmt: skip
@click.option("--browser/--no-browser", default=None, help="Open a browser. [unless over SSH]")
def command(path: str | None, host: str, port: int | None, browser: bool | None) -> None:
    """Show RUN, or all runs in FOLDER, in a browser; without a name, those in ./stepscope-runs.
    TRACE is a file that the profiler of torch, TensorFlow or JAX wrote, or its log folder.

    Runs that are being recorded update on their own. The printed address is needed to get in.

    \b
    Examples:
      stepscope view                             all runs in ./stepscope-runs
      stepscope view before                      one run
      stepscope view logs/                       traces of TensorBoard's profiler
      stepscope view --port 6100 --no-browser    then: ssh -L 6100:localhost:6100 this-machine
    """
    from stepscope.show.report.bundle import bundle
    from stepscope.show.server.app import application
    from stepscope.show.server.runs import Runs

    bundle()  # raises now if it was not built
    runs = Runs(_chosen(path) if path is not None else _runs_folder())
    listening = _listen(host, port)
    token = secrets.token_urlsafe(24)
    address = _address(host, listening.getsockname()[1], token)
    _print_address(address, host, listening.getsockname()[1])
    is_remote = any(name in os.environ for name in _REMOTE)
    if browser or (browser is None and not is_remote and sys.stdout.isatty()):
        _open_browser(address)
    _serve(application(runs, token=token, host=host), listening)


def _chosen(path: str) -> Path:
    """A folder of runs is a list of them; of a folder with traces the newest one is shown."""
    from stepscope.show.server.runs import holds_runs

    try:
        return Path(path) if holds_runs(Path(path)) else chosen(path)
    except DataError as error:  # nothing to show is a wrong path here, not damaged data
        raise InputError(str(error)) from error


def _runs_folder() -> Path:
    from stepscope.analyze.run import RUNS_FOLDER, newest_run

    newest_run()  # raises if there is none
    return Path(RUNS_FOLDER)


def _listen(host: str, port: int | None) -> socket.socket:
    """A listening socket, so that the port is ours before the address is printed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = range(_DEFAULT_PORT, _DEFAULT_PORT + _TRIED) if port is None else (port,)
    trouble: OSError | None = None
    for number in wanted:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(64)
        except (OSError, OverflowError) as error:
            listening.close()
            trouble = error if isinstance(error, OSError) else OSError(str(error))
            continue
        return listening
    raise EnvironmentTrouble(
        f"Cannot listen on '{host}': {trouble}. Name another place with --host and --port."
    ) from trouble


def _address(host: str, port: int, token: str) -> str:
    name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}/?token={token}"


def _print_address(address: str, host: str, port: int) -> None:
    say(address)
    if any(name in os.environ for name in _REMOTE) and host in ("127.0.0.1", "localhost", "::1"):
        here = f"{getpass.getuser()}@{socket.gethostname()}"
        say(f"from your own machine, first: ssh -N -L {port}:localhost:{port} {here}")
    say("press Ctrl-C to stop.")


def _open_browser(address: str) -> None:
    import webbrowser

    try:
        webbrowser.open(address)
    except webbrowser.Error:
        return  # the address is printed already


def _serve(app: object, listening: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)  # type: ignore[arg-type]  # ASGI applications have many types
    uvicorn.Server(config).run(sockets=[listening])
