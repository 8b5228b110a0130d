"""The fixes of a trial, installed in the user's process before its first line.

STEPSCOPE_TRIAL names a JSON file, {"fixes": [{"name", "settings"}]}. What becomes of them is
appended to RUN/trial.jsonl: {"fix", "is": "applied" | "refused" | "failed", "what"}.
"""

import json
import os
from collections.abc import Callable
from types import ModuleType
from typing import Final, Literal

from stepscope.record import frameworks
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.trial import fixes

REPORT_FILE: Final = "trial.jsonl"

Outcome = Literal["applied", "refused", "failed"]


def apply(trial_file: str, run_folder: str) -> None:
    """Never raises: a fix that fails costs its trial, and the script goes on without it."""
    try:
        with open(trial_file, encoding="utf-8") as file:
            wanted = json.load(file)["fixes"]
    except Exception as error:
        InScript("", run_folder).failed(error)
        return
    for each in wanted:
        script = InScript(each["name"], run_folder)
        try:
            fixes.named(each["name"]).install(script, each["settings"])
        except Exception as error:
            script.failed(error)


class InScript:
    """The user's process, as one fix sees it."""

    def __init__(self, fix: str, run_folder: str) -> None:
        self.patches = Patches()
        self._fix = fix
        self._report = os.path.join(run_folder, REPORT_FILE)
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
            self.failed(error)

    def _say(self, outcome: Outcome, what: str) -> None:
        """One small append a line, so that processes do not mix."""
        if outcome in self._said:
            return
        self._said.add(outcome)
        line = json.dumps({"fix": self._fix, "is": outcome, "what": what}) + "\n"
        try:
            with open(self._report, "a", encoding="utf-8") as file:
                file.write(line)
        except OSError:
            return  # without its word the fix counts as never reached
