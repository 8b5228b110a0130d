"""`stepscope run`: record a script, unedited, and say where its time went."""

import glob
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from stepscope.cli import report, sizes
from stepscope.cli.completion import paths
from stepscope.cli.progress import ProgressLine
from stepscope.errors import EnvironmentTrouble, StepscopeError
from stepscope.launch import run_folder, tracker_runs
from stepscope.launch.about import describe_run
from stepscope.launch.command import Command, command_for
from stepscope.launch.launchers import Launch, launch_of
from stepscope.launch.options import RecordOptions
from stepscope.launch.supervisor import (
    IGNORED_BY_PYTHON,
    add_to_ending,
    end_like,
    supervise,
)
from stepscope.launch.support import require_supported, untested_python
from stepscope.record.boot import environment_for
from stepscope.spelled_out import spelled_out
from stepscope.store import local_folder
from stepscope.store.format import OPS_FILE


@click.command(
    "run",
    short_help="Record a script, unedited.",
    context_settings={"allow_interspersed_args": False},
)
@click.option("-m", "module", is_flag=True, help="SCRIPT is a module, as with python -m.")
@click.option("-o", "output", metavar="RUN", help="Run folder. [stepscope-runs/<script>-<time>]")
@click.option("--force", is_flag=True, help="Replace the run that -o names.")
@click.option("--calls", is_flag=True, help="Record every call, as cProfile does.")
@click.option("--exact", is_flag=True, help="Never thin out lines, whatever that costs.")
@click.option("--ops", callback=sizes.steps_of_operators, default="auto", metavar="10:20|all|off",
              help="Steps whose operators are recorded. [three after the fifth]")  # fmt: skip
@click.option("--losses", is_flag=True, help="Keep the loss of every step.")
@click.option("--log", is_flag=True,
              help="Add the results to the script's W&B, MLflow or TensorBoard run.")  # fmt: skip
@click.option("--include", multiple=True, metavar="GLOB",
              help="Files or modules that count as yours too; may be repeated.")  # fmt: skip
@click.option("--exclude", multiple=True, metavar="GLOB",
              help="Files or modules to leave out; may be repeated.")  # fmt: skip
@click.option("--steps", type=click.IntRange(min=1), metavar="N",
              help="Stop the script cleanly after N steps.")  # fmt: skip
@click.option("--until-stable", is_flag=True, help="Stop the script once step times have settled.")
@click.option("--stop-after", callback=sizes.extent, metavar="500s|2000steps",
              help="Stop recording then; the script goes on.")  # fmt: skip
@click.option("--budget", callback=sizes.share, default="3%", metavar="SHARE",
              help="What recording may cost. [3%]")  # fmt: skip
@click.option("--max-size", callback=sizes.size_bytes, default="512MB", metavar="SIZE",
              help="Disk space a process may take. [512MB]")  # fmt: skip
@click.option("--quiet", is_flag=True, help="Print nothing; the report is still written.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT [ARGUMENTS]...",
                shell_complete=paths)  # fmt: skip
def command(words: tuple[str, ...], **given: Any) -> None:
    """Record SCRIPT and say where its time went.

    Everything after SCRIPT belongs to the script. Its exit status is passed on, and what it prints
    is untouched.

    \b
    Examples:
      stepscope run train.py --epochs 1          the options after the script are the script's
      stepscope run -m mypackage.train           a module
      stepscope run --steps 200 train.py         stop after 200 steps: often enough
      stepscope run -o before train.py           a name to compare with later
      stepscope run --log train.py               add the results to the run in W&B or MLflow
      torchrun --nproc-per-node 4 -m stepscope run train.py
    """
    require_supported()
    launch = launch_of(os.environ)
    untested = untested_python()
    if untested is not None and not given["quiet"] and (launch is None or launch.rank == 0):
        _say(untested)
    if launch is None:
        _supervised(words, given)
    _only_rank_0_speaks(launch, lambda: _as_rank(launch, words, given))


def _supervised(words: tuple[str, ...], given: dict[str, Any]) -> NoReturn:
    """The script is our child; when it has ended, we analyse and exit the way it did."""
    to_run = command_for(words, module=given["module"])
    folder = _folder_for(to_run, given)
    run_folder.write_run_file(folder, _run_fields(words, given, to_run, None))
    place = local_folder.place_for(folder)
    if place != folder:
        _say(f"'{folder}' is on a network file system: recording in '{place}' until the end.")
    environment = environment_for(place, os.environ)
    environment["STEPSCOPE_SUPERVISOR"] = str(os.getpid())
    ended = supervise(to_run.arguments, environment, place)
    _in_own_process(lambda: _finish(folder, place, quiet=given["quiet"]), folder)
    if given["log"]:
        tracker_runs.hand_over(folder)
    end_like(ended)


def _as_rank(launch: Launch, words: tuple[str, ...], given: dict[str, Any]) -> NoReturn:
    """We become the script: the launcher keeps watching the process it started."""
    to_run = command_for(words, module=given["module"])
    folder = run_folder.launch_folder(launch, given["output"])
    run_folder.write_run_file(folder, _run_fields(words, given, to_run, launch))
    place = local_folder.place_for(folder)
    environment = environment_for(place, os.environ)
    environment["STEPSCOPE_MAIN"] = str(os.getpid())
    if place != folder:
        environment["STEPSCOPE_COLLECT_INTO"] = folder
    if launch.rank == 0 and not given["quiet"]:
        shown = run_folder.shown(folder)
        _say(f"recording all ranks in '{folder}'. Afterwards: stepscope show {shown}")
    for number in IGNORED_BY_PYTHON:  # a shell does not
        signal.signal(number, signal.SIG_DFL)
    os.execve(to_run.arguments[0], to_run.arguments, environment)


def _only_rank_0_speaks(launch: Launch | None, act: Callable[[], NoReturn]) -> NoReturn:
    try:
        act()
    except StepscopeError as error:
        if launch is not None and launch.rank != 0:
            raise SystemExit(error.exit_status) from error
        raise


def _folder_for(to_run: Command, given: dict[str, Any]) -> str:
    if given["output"] is None:
        return run_folder.new_folder(to_run.name)
    return run_folder.chosen_folder(given["output"], force=given["force"])


def _run_fields(
    words: tuple[str, ...], given: dict[str, Any], to_run: Command, launch: Launch | None
) -> dict[str, Any]:
    typed = ["-m", *words] if given["module"] else list(words)
    launcher = run_folder.launch_facts(launch) if launch else None
    return describe_run(typed, to_run.script, record_options(given, to_run).to_json(), launcher)


def record_options(given: dict[str, Any], to_run: Command) -> RecordOptions:
    seconds, steps = given["stop_after"]
    return RecordOptions(
        exact=given["exact"],
        calls=given["calls"],
        ops=given["ops"],
        losses=given["losses"],
        log=given["log"],
        include=given["include"],
        exclude=given["exclude"],
        steps=given["steps"],
        until_stable=given["until_stable"],
        stop_after_s=seconds,
        stop_after_steps=steps,
        budget_share=given["budget"],
        max_bytes=given["max_size"],
        packages=to_run.packages,
    )


def _finish(folder: str, place: str, *, quiet: bool) -> None:
    if place != folder:
        local_folder.collect_from(place, folder)
    if glob.glob(
        os.path.join(glob.escape(folder), "proc-*", OPS_FILE.format(number="*", ending="*"))
    ):
        with ProgressLine().doing("measuring what 64 bits cost on this machine"):
            _measure_machine(folder)
    if not quiet:
        _analyse(folder)
    elif os.environ.get("STEPSCOPE_REPORT") != "off":
        _write_report(folder)


def _measure_machine(folder: str) -> None:
    """Measured here because the findings need it, and the run may be shown on another machine."""
    from stepscope.advise.gain.precision import measured_ratio

    add_to_ending(folder, float64_ratio=measured_ratio())


def _write_report(folder: str) -> None:
    """With --quiet: tables and report are written for later."""
    from stepscope.analyze.run import load

    run = load(run_folder.shown(folder))
    _write_tables(run)
    report.write(run, folder)


def _write_tables(run: Any) -> None:
    """Without them, the rest is as good."""
    from stepscope.analyze.answers.parquet_tables import write_tables

    try:
        write_tables(run)
    except EnvironmentTrouble as trouble:
        _say(str(trouble))


def _analyse(folder: str) -> None:
    from stepscope.advise.findings import findings
    from stepscope.analyze.answers.summary import summary
    from stepscope.analyze.run import load
    from stepscope.show.terminal.drawing.page import print_view
    from stepscope.show.terminal.summary import summary as summary_page

    line = ProgressLine()
    with line.doing("analysing the run"):
        run = load(run_folder.shown(folder))
        advice = findings(run)
        page = summary_page(summary(run), findings=advice)
    print_view(page, stderr=True)
    with line.doing("writing the tables"):
        _write_tables(run)
    _report(run, folder, advice, line)


def _report(run: Any, folder: str, advice: Any, line: ProgressLine) -> None:
    try:
        with line.doing("writing the report"):
            path = report.write(run, folder, findings=advice)
    except Exception as trouble:
        _say(f"no report: {trouble or type(trouble).__name__}.")
        return
    if path is not None:
        report.announce(path, stderr=True)


def _in_own_process(act: Callable[[], None], folder: str) -> None:
    """A library that aborts (out of memory) must not cost the script's exit status."""
    child = os.fork()
    if child == 0:
        try:
            _guarded(act, folder)
        finally:
            os._exit(0)
    while True:
        try:
            status = os.waitpid(child, 0)[1]
            break
        except KeyboardInterrupt:
            continue  # the terminal interrupted the child too
    if status:
        _say(
            f"the analysis was cut short: {_died_of(status)}. If memory is limited here, ask where "
            f"it is not. {_again(folder)}"
        )


def _died_of(status: int) -> str:
    number = os.waitstatus_to_exitcode(status)
    return signal.strsignal(-number) or f"signal {-number}" if number < 0 else f"status {number}"


def _again(folder: str) -> str:
    return f"The run is in '{run_folder.shown(folder)}': stepscope show {run_folder.shown(folder)}"


def _guarded(act: Callable[[], None], folder: str) -> None:
    """Anything that goes wrong in our own part becomes a one-line message."""
    again = _again(folder)
    try:
        act()
    except KeyboardInterrupt:
        _say(f"stopped before the summary. {again}")
    except Exception as trouble:
        _say(f"no summary: {trouble or type(trouble).__name__}. {again}")


def _say(sentence: str) -> None:
    if sys.stderr is None:  # started with stderr closed
        return
    try:
        print(f"stepscope: {spelled_out(sentence)}", file=sys.stderr, flush=True)
    except OSError:
        return  # the reader is gone
