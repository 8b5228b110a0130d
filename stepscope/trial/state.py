"""What a trial has measured so far, in its folder: with it an interrupted one goes on.

Everything else follows from it: the findings from the baseline's run, the proposals from the
findings, the ladder from the rounds.
"""

import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from stepscope.errors import DataError, EnvironmentTrouble, InputError
from stepscope.launch.run_folder import DEFAULT_PARENT, new_folder, shown
from stepscope.model import Record
from stepscope.model.trial import Status
from stepscope.store.plain_files import read_plain, replace_plain

STATE_FILE: Final = "try.json"
PREFIX: Final = "try-"


class SavedFix(Record, frozen=True):
    name: str
    settings: dict[str, Any]


class Round(Record, frozen=True):
    """Both sides, run next to each other: their mean measured step, without what others took."""

    before_ms: float
    after_ms: float
    before_run: str
    after_run: str
    lost: float = 0.0  # what other programs took, as a share of the time: the larger of both


class Comparison(msgspec.Struct):
    """The script with the fixes `before` against the script with those `after`."""

    before: list[SavedFix]
    after: list[SavedFix]
    rounds: list[Round] = msgspec.field(default_factory=list)
    status: Status | None = None  # "failed" or "skipped", if it cannot be measured
    reason: str | None = None


class SavedBaseline(Record, frozen=True):
    run: str
    seconds: float
    loaded: list[str]  # frameworks


class Wanted(Record, frozen=True):
    """What the user asked for."""

    words: list[str]  # the script and its arguments
    cwd: str
    rounds: int
    steps: int | None = None
    module: bool = False
    fixes: list[str] | None = None  # only these
    ladder: bool = False  # all fixes, also without a finding
    in_place: bool = False

    @property
    def command(self) -> str:
        """All that decides about what code runs, and where, as it is typed: a fix may be a module
        of the user's."""
        options = ["--fixes", ",".join(self.fixes)] if self.fixes else []
        options += ["--in-place"] if self.in_place else []
        options += ["-m"] if self.module else []
        return shlex.join([*options, *self.words])


class State(msgspec.Struct):
    wanted: Wanted
    folder: str
    runs: int = 0  # so far, failed ones too
    seconds: float = 0.0  # they took
    steps_s: float = 0.0  # of that, in the steps
    baseline: SavedBaseline | None = None
    comparisons: list[Comparison] = msgspec.field(default_factory=list)

    def comparison(self, before: list[SavedFix], after: list[SavedFix]) -> Comparison:
        for each in self.comparisons:
            if each.before == before and each.after == after:
                return each
        self.comparisons.append(Comparison(before, after))
        return self.comparisons[-1]

    def kept_runs(self, fixes: list[SavedFix]) -> list[str]:
        """Of the script with these fixes: the first of each comparison, and without any the
        baseline, which is there where no time was left for a control."""
        recorded = [self.baseline.run] if self.baseline is not None and not fixes else []
        first = [(each, each.rounds[0]) for each in self.comparisons if each.rounds]
        before = [round_.before_run for each, round_ in first if each.before == fixes]
        after = [round_.after_run for each, round_ in first if each.after == fixes]
        return recorded + before + after

    def unchanged_ms(self) -> list[float]:
        """The mean step of each run of the script as it is."""
        first = [round_.before_ms for each in self.comparisons if not each.before
                 for round_ in each.rounds]  # fmt: skip
        controls = [each for each in self.comparisons if not each.after]
        return first + [round_.after_ms for each in controls for round_ in each.rounds]

    def most_lost(self) -> float:
        """The largest share of a run's steps that other programs took."""
        rounds = (round_ for each in self.comparisons for round_ in each.rounds)
        return max((each.lost for each in rounds), default=0.0)

    def save(self) -> None:
        path = os.path.join(self.folder, STATE_FILE)
        try:
            # With the command line as it was typed, to run it again: nobody else's business.
            replace_plain(path, msgspec.json.encode(self), mode=0o600)
        except OSError as cause:
            raise EnvironmentTrouble(f"Cannot write '{path}': {cause.strerror}.") from cause


def begin(wanted: Wanted, name: str) -> State:
    state = State(wanted, new_folder(PREFIX + name))
    state.save()
    return state


def resume(wanted: Wanted, may_run: Callable[[str], bool]) -> State:
    """`wanted`: what was typed now. Its words are nothing (the newest trial), a folder, and then or
    alone the same command as before. A folder may be somebody else's: without the command, nothing
    in it is run unless `may_run`, which is given the command, agrees."""
    folder, words = _folder_of(wanted.words)
    state = _read(folder)
    command = state.wanted.command
    typed = msgspec.structs.replace(wanted, words=words)
    if words and typed.command != state.wanted.command:
        raise InputError(
            f"'{state.folder}' tried '{command}', not '{typed.command}': "
            "leave --resume out to begin a new trial."
        )
    if os.getcwd() != state.wanted.cwd:
        raise InputError(f"'{state.folder}' was started in '{state.wanted.cwd}': resume it there.")
    if not words and not may_run(command):
        raise InputError(
            f"'{shown(state.folder)}' would run a command that was not typed here. If it is yours: "
            f"{to_resume(state)}"
        )
    return state


def to_resume(state: State) -> str:
    """What to type."""
    words = [shown(state.folder), *state.wanted.words]
    named = msgspec.structs.replace(state.wanted, words=words)
    return f"stepscope try --resume {named.command}"


def _folder_of(words: list[str]) -> tuple[Path, list[str]]:
    """And what follows it."""
    if words and os.path.isfile(os.path.join(words[0], STATE_FILE)):
        return Path(words[0]), words[1:]
    folders = Path(DEFAULT_PARENT).glob(f"{PREFIX}*/{STATE_FILE}")
    newest = max(folders, key=lambda file: file.stat().st_mtime_ns, default=None)
    if newest is None:
        raise InputError(f"There is no trial to resume in '{DEFAULT_PARENT}'.")
    return newest.parent, words


def _read(folder: Path) -> State:
    try:
        state = msgspec.json.decode(read_plain(folder / STATE_FILE), type=State)
    except (OSError, msgspec.DecodeError) as cause:
        raise DataError(f"Cannot read '{folder / STATE_FILE}': {cause}.") from cause
    where, state.folder = state.folder, os.path.abspath(folder)
    _place_runs(state, where)
    return state


def _place_runs(state: State, where: str) -> None:
    """`where`: its folder when it was written, which may have been moved since."""
    if state.baseline is not None:
        run = _own_run(state, where, state.baseline.run)
        state.baseline = msgspec.structs.replace(state.baseline, run=run)
    for comparison in state.comparisons:
        comparison.rounds[:] = [
            msgspec.structs.replace(
                each,
                before_run=_own_run(state, where, each.before_run),
                after_run=_own_run(state, where, each.after_run),
            )
            for each in comparison.rounds
        ]


def _own_run(state: State, where: str, run: str) -> str:
    """What was measured is read and added to, and the folder may be somebody else's."""
    path = os.path.join(state.folder, os.path.relpath(os.path.join(where, run), where))
    home = os.path.realpath(state.folder)
    if "\0" in run or os.path.commonpath([home, os.path.realpath(path)]) != home:
        raise DataError(
            f"'{os.path.join(shown(state.folder), STATE_FILE)}' names a run outside of its folder, "
            f"'{run}': leave --resume out to begin a new trial."
        )
    return path


class Budget:
    """Time that may be spent: nothing is started that does not fit."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._started = time.monotonic()

    @property
    def left_s(self) -> float:
        return self.seconds - (time.monotonic() - self._started)
