"""Runs a script with fixes applied, through the same door as `stepscope try`."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clean_environment import environment
from stepscope.launch import run_folder
from stepscope.launch.about import describe_run
from stepscope.launch.options import RecordOptions
from stepscope.record.boot import environment_for
from stepscope.trial.in_script import REPORT_FILE

PATIENCE_S = 300.0  # only how long to wait before a hang counts as a failure
ROOT = Path(__file__).parents[2]
_WITHOUT_OPERATORS = RecordOptions(ops="off")

# Reads its file in every step: the finding that is the surest of all.
_READS_AGAIN = """
import json, pathlib, time
path = pathlib.Path(__file__).with_name("table.json")
path.write_text(json.dumps(list(range(60_000))))

def read():
    with open(path) as file:
        return json.load(file)

for _ in range(40):
    read()
    time.sleep(0.002)
"""


class Tried(NamedTuple):
    status: int
    stdout: str
    stderr: str
    said: list[dict[str, Any]]  # what the fixes said, in order
    run: Path

    def applied(self, fix: str) -> str | None:
        """What the fix says it did."""
        return next((e["what"] for e in self.said if (e["fix"], e["is"]) == (fix, "applied")), None)

    def refused(self, fix: str) -> str | None:
        return next((e["what"] for e in self.said if (e["fix"], e["is"]) == (fix, "refused")), None)


def run_with(
    script: Path,
    *arguments: str,
    fixes: Mapping[str, Mapping[str, Any]],
    into: Path,
    env: Mapping[str, str] = {},
    options: RecordOptions = _WITHOUT_OPERATORS,
) -> Tried:
    """`fixes`: name to settings. `into`: an empty folder for the run."""
    into.mkdir(parents=True, exist_ok=True)
    words = [str(script), *arguments]
    run_folder.write_run_file(str(into), describe_run(words, str(script), options.to_json()))
    trial = into.parent / f"{into.name}-trial.json"
    wanted = [{"name": name, "settings": dict(settings)} for name, settings in fixes.items()]
    trial.write_text(json.dumps({"fixes": wanted}))
    # The tests' own fixes are found by their module's name.
    inherited = environment(
        {"PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)]), **env}
    )
    variables = environment_for(str(into), inherited)
    variables |= {"STEPSCOPE_SUPERVISOR": str(os.getpid()), "STEPSCOPE_TRIAL": str(trial)}
    ended = subprocess.run(
        [sys.executable, *words],
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    return Tried(ended.returncode, ended.stdout, ended.stderr, _said(into / REPORT_FILE), into)


def _said(report: Path) -> list[dict[str, Any]]:
    rows = [json.loads(row) for row in report.read_text().splitlines()] if report.exists() else []
    return [row for row in rows if "fix" in row]


def recorded_reading_again(folder: Path) -> Path:
    """The run of a script that reads the same file in every step."""
    script = folder / "train.py"
    script.write_text(_READS_AGAIN)
    return run_with(script, fixes={}, into=folder / "run").run
