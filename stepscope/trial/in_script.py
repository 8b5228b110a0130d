"""The fixes of a trial, installed in the user's process before its first line.

STEPSCOPE_TRIAL names a JSON file, {"fixes": [{"name", "settings"}]}. RUN/trial.jsonl gets a line
for what becomes of each: {"fix", "number" (its place in that list), "is": "applied" | "refused" |
"failed", "what"}; and one for each framework that the script loads: {"is": "loaded", "what"}.
"""

import functools
import json
import os
from collections.abc import Callable
from types import ModuleType
from typing import Final, Literal

from stepscope.record import frameworks
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.signal_handlers import let_pass, suppressed
from stepscope.store.plain_files import append_plain
from stepscope.trial import fixes

REPORT_FILE: Final = "trial.jsonl"

Outcome = Literal["applied", "refused", "failed"]


def apply(trial_file: str, run_folder: str) -> None:
    """Never raises: a fix that fails costs its trial, and the script goes on without it."""
    _note_frameworks(run_folder)
    try:
        with open(trial_file, encoding="utf-8") as file:
            wanted = json.load(file)["fixes"]
    except Exception as error:
        let_pass(error)
        InScript("", 0, run_folder).failed(error)
        return
    for number, each in enumerate(wanted):
        script = InScript(each["name"], number, run_folder)
        try:
            fixes.named(each["name"]).install(script, each["settings"])
        except Exception as error:
            let_pass(error)
            script.failed(error)


def _note_frameworks(run_folder: str) -> None:
    for package in {name.partition(".")[0] for name in frameworks.watched()}:
        report = functools.partial(_append, run_folder, {"is": "loaded", "what": package})
        frameworks.when_loaded(package, lambda _, report=report: report())  # type: ignore[misc]


class InScript:
    """The user's process, as one fix sees it."""

    def __init__(self, fix: str, number: int, run_folder: str) -> None:
        self.patches = Patches()
        self._fix = fix
        self._number = number
        self._run_folder = run_folder
        self._said: set[Outcome] = set()

    def when_loaded(self, module: str, action: Callable[[ModuleType], object]) -> None:
        frameworks.when_loaded(module, lambda loaded: self._guarded(action, loaded))

    def applied(self, what: str) -> None:
        self._say("applied", what)

    def refuse(self, reason: str) -> None:
        self._say("refused", reason)

    def failed(self, error: Exception) -> None:
        self._say("failed", f"{type(error).__name__}: {error}")

    def _guarded(self, action: Callable[[ModuleType], object], loaded: ModuleType) -> None:
        try:
            action(loaded)
        except Exception as error:
            let_pass(error)
            self.failed(error)

    def _say(self, outcome: Outcome, what: str) -> None:
        if outcome not in self._said:
            self._said.add(outcome)
            fields = {"fix": self._fix, "number": self._number, "is": outcome, "what": what}
            _append(self._run_folder, fields)


def _append(run_folder: str, fields: dict[str, object]) -> None:
    """One small append a line, so that processes do not mix."""
    with suppressed(OSError):  # without its word a fix counts as never reached
        line = json.dumps(fields) + "\n"
        append_plain(os.path.join(run_folder, REPORT_FILE), line.encode())
