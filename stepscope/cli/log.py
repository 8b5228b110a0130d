"""`python -m stepscope.cli.log`: what `--log` does in a process of its own.

`send RUN` adds a finished run to the trackers that its script used; `digest RUN FOLDER` only writes
what a tracker is given, for a script that has to add it itself.
"""

import json
import os
import shutil
import sys
from typing import Any, Final

import msgspec

from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.cli import report
from stepscope.errors import StepscopeError
from stepscope.launch.tracker_runs import DIGEST_FILE
from stepscope.model.tracking import Digest
from stepscope.record.boot import leave_note
from stepscope.show.report.bundle import is_built
from stepscope.show.report.file import REPORT_FILE
from stepscope.show.trackers import event_file, mlflow_run
from stepscope.show.trackers.digest import digest
from stepscope.store.format import TRACKERS_FILE
from stepscope.store.plain_files import read_plain

_TENSORBOARD_REPORT: Final = "stepscope-report.html"


def write_digest(folder: str, into: str) -> None:
    """The run is still being recorded: nothing is written into it."""
    from stepscope.show.report.content import content

    run = load(folder)
    advice = findings(run)
    page = os.path.join(into, REPORT_FILE) if is_built() else None
    if page is not None:
        report.write_page(page, content(run, findings=advice))
    with open(os.path.join(into, DIGEST_FILE), "wb") as file:
        file.write(msgspec.json.encode(digest(run, advice, page)))


def send(folder: str) -> None:
    """Trouble with one tracker is noted in the run, and the others get theirs."""
    run = load(folder)
    advice = findings(run)
    page = report.found_or_written(run, findings=advice)
    made = digest(run, advice, os.path.abspath(page) if page else None)
    for tracker in _trackers(folder):
        try:
            _ADD[tracker["is"]](made, tracker)
        except Exception as error:
            leave_note(folder, f"Not added to {_called(tracker)}: {error}")


def _add_to_tensorboard(made: Digest, tracker: dict[str, str]) -> None:
    last = made.course[-1][0] if made.course else 0
    texts = {"stepscope/verdict": made.verdict, "stepscope/findings": made.findings}
    scalars = [*made.course, (last, made.summary)]
    event_file.write(tracker["folder"], scalars, texts, last)
    if made.report is not None:
        shutil.copyfile(made.report, os.path.join(tracker["folder"], _TENSORBOARD_REPORT))


def _add_to_mlflow(made: Digest, tracker: dict[str, str]) -> None:
    mlflow_run.add(made, tracker["uri"], tracker["run"], tracker["folder"])


_ADD: Final = {"tensorboard": _add_to_tensorboard, "mlflow": _add_to_mlflow}


def _called(tracker: dict[str, str]) -> str:
    if tracker["is"] == "mlflow":
        return f"MLflow's run {tracker['run']}"
    return f"TensorBoard's folder '{tracker['folder']}'"


def _trackers(folder: str) -> list[dict[str, Any]]:
    """The first of each kind. Only those that this version knows."""
    found: dict[str, dict[str, Any]] = {}
    for process in sorted(os.listdir(folder)):
        path = os.path.join(folder, process, TRACKERS_FILE)
        if process.startswith("proc-") and os.path.isfile(path):
            for line in read_plain(path).splitlines():
                tracker = json.loads(line)
                found.setdefault(tracker["is"], tracker)
    return [tracker for kind, tracker in found.items() if kind in _ADD]


def main(what: str, folder: str, *into: str) -> None:
    try:
        if what == "send":
            send(folder)
        else:
            write_digest(folder, *into)
    except (StepscopeError, OSError, ValueError) as error:
        leave_note(folder, f"Not added to the script's trackers: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
