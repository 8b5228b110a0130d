"""`stepscope try`: apply the fixes that findings name, and measure what each really gains."""

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli import report
from stepscope.cli.completion import paths
from stepscope.cli.progress import ProgressLine
from stepscope.cli.words import print_json, say
from stepscope.errors import InputError
from stepscope.launch.launchers import launch_of
from stepscope.launch.support import require_supported, untested_python
from stepscope.spelled_out import spelled_out

if TYPE_CHECKING:
    from stepscope.model.trial import Rung, TrialAnswer
    from stepscope.trial.state import State

_TERMINALS = [descriptor for descriptor in (1, 2) if os.isatty(descriptor)]  # as it began
_INTERRUPTED_STATUS = 130  # 128 + SIGINT, as a shell reports it


@click.command(
    "try",
    short_help="Try the fixes, and measure each.",
    context_settings={"allow_interspersed_args": False},
)
@click.option("-m", "module", is_flag=True, help="SCRIPT is a module, as with python -m.")
@click.option("--fixes", metavar="A,B", help="Only these fixes.")
@click.option("--ladder", is_flag=True, help="All fixes that fit, also those no finding names.")
@click.option("--rounds", type=click.IntRange(min=2), default=5, show_default=True, metavar="N",
              help="Rounds a fix, at most: they end when the answer is clear.")  # fmt: skip
@click.option("--steps", type=click.IntRange(min=10), metavar="N",
              help="Steps of each run. [60, or what takes three seconds]")  # fmt: skip
@click.option("--budget", type=click.FloatRange(min=0, min_open=True), metavar="MINUTES",
              default=10.0, show_default=True, help="Start nothing that takes longer.")  # fmt: skip
@click.option("--in-place", is_flag=True, help="Run in the script's own folder, not in a copy.")
@click.option("--resume", is_flag=True,
              help="Go on with a trial: the newest, or the FOLDER given first.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT [ARGUMENTS]...",
                shell_complete=paths)  # fmt: skip
def command(words: tuple[str, ...], **given: Any) -> int:
    """Run SCRIPT as it is, then with each fix that its findings name, and say what each gains.

    Every fix is applied from outside, in a process of its own: no file of yours is changed. Runs
    with and without it take turns, and their losses are compared. What helps is kept, and the next
    fix comes on top.

    \b
    Examples:
      stepscope try train.py --epochs 1          what the findings propose
      stepscope try --ladder train.py            everything that fits
      stepscope try --fixes compile,num-workers train.py
      stepscope try --budget 30 train.py         half an hour, no longer
      stepscope try --resume train.py            go on with the newest trial
    """
    from stepscope.trial.ladder import INTERRUPTED, UNCLEAR
    from stepscope.trial.session import refuse_ranks

    require_supported()
    untested = untested_python()
    if untested is not None:
        say(untested)
    launch = launch_of(os.environ)
    if launch is not None:
        raise refuse_ranks(launch.variable)
    state = _state(list(words), given)
    talk = _Talk()
    try:
        answer = _climb(state, talk, given)
    except KeyboardInterrupt:
        talk.say(_again(state))
        return _INTERRUPTED_STATUS
    if answer.stopped is not None:
        talk.say(f"{answer.stopped}. {_again(state)}")
    elif any(rung.reason == UNCLEAR for rung in answer.rungs):
        talk.say(f"not all is beyond doubt. {_again(state)}")
    return _INTERRUPTED_STATUS if answer.stopped == INTERRUPTED else 0


def _climb(state: "State", talk: "_Talk", given: dict[str, Any]) -> "TrialAnswer":
    """Measures, prints and reports; leaves no process behind, however it ends."""
    from stepscope.trial import orphans
    from stepscope.trial.session import Session
    from stepscope.trial.state import Budget

    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _hang_up)
    orphans.adopt()
    try:
        answer = Session(state, Budget(given["budget"] * 60), talk).run()
        _print(answer, as_json=given["as_json"])
        _write_report(answer, talk)
        return answer
    finally:
        orphans.end()  # also one that was being started when the interruption came
        talk.end()


def _state(words: list[str], given: dict[str, Any]) -> "State":
    from stepscope.trial import state
    from stepscope.trial.session import command_of

    if not words and not given["resume"]:
        raise InputError("Nothing to try: type 'stepscope try train.py' and the script's options.")
    wanted = state.Wanted(
        words=words,
        cwd=os.getcwd(),
        rounds=given["rounds"],
        steps=given["steps"],
        module=given["module"],
        fixes=given["fixes"].split(",") if given["fixes"] else None,
        ladder=given["ladder"],
        in_place=given["in_place"],
    )
    if given["resume"]:
        return state.resume(wanted, _may_run)
    return state.begin(wanted, command_of(wanted).name)


def _may_run(command: str) -> bool:
    """Asked where there is somebody to answer."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        return False
    return click.confirm(f"stepscope: go on with 'stepscope try {spelled_out(command)}'?", err=True)


def _print(answer: "TrialAnswer", *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    from stepscope.show.terminal.drawing.page import print_view
    from stepscope.show.terminal.ladder import ladder

    print_view(ladder(answer))


def _write_report(answer: "TrialAnswer", talk: "_Talk") -> None:
    """The report of the script as it is, with the ladder as a page."""
    from stepscope.analyze.run import load
    from stepscope.show.report.bundle import is_built
    from stepscope.show.report.content import content
    from stepscope.show.report.file import REPORT_FILE, list_figures

    if not is_built() or os.environ.get("STEPSCOPE_REPORT") == "off":
        return
    path = os.path.join(answer.folder, REPORT_FILE)
    try:
        run = load(answer.baseline.run)
        shown = content(run, trial=answer)
        report.write_page(path, shown)
        list_figures(run.path, shown)
    except Exception as trouble:
        talk.say(f"no report: {trouble or type(trouble).__name__}.")
    else:
        talk.say(f"in browser: {path}#/try")


def _again(state: "State") -> str:
    from stepscope.trial.state import to_resume

    return f"What was measured is kept: {to_resume(state)}"


def _interrupt(*_: object) -> None:
    """Asked to end by a process: as with Ctrl-C, nothing that we started is left behind."""
    raise KeyboardInterrupt


def _hang_up(*_: object) -> None:
    """The terminal may be gone: what is still said must not be an error."""
    for descriptor in _TERMINALS:
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    raise KeyboardInterrupt


def _left(seconds: float) -> str:
    if seconds < 100:
        return f"at most {max(5, round(seconds, -1)):.0f} s left"
    return f"at most {seconds / 60:.0f} min left"


class _Talk:
    """On stderr; where it is a terminal, one line says where we are."""

    def __init__(self) -> None:
        self._line = ProgressLine()

    def say(self, sentence: str) -> None:
        self.end()
        say(sentence)

    def round(self, what: str, number: int, most: int, left_s: float) -> None:
        self._line.show(f"{what}: round {number} of at most {most}, {_left(left_s)}")

    def rung(self, rung: "Rung") -> None:
        from stepscope.show.terminal.ladder import in_one_line

        self.say(in_one_line(rung))

    def end(self) -> None:
        self._line.end()
