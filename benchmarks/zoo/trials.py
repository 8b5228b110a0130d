"""`stepscope try` on the scripts of the zoo, and on each what its own switch gains.

What was measured of a script is in a file of its own: a script that has one is not measured again.
"""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks import machine
from benchmarks.zoo import changes_nothing
from benchmarks.zoo.measure import Failed, Gain, Round, call
from benchmarks.zoo.specimens import HELD_OUT, Specimen
from benchmarks.zoo.trial_results import Tried, cells
from stepscope.model.trial import TrialAnswer
from stepscope.trial.mean_step import MeasuredSteps, NoSteps, measured_steps

ROOT = Path(__file__).parents[2]
GRACE_S = 600  # the budget limits what is begun: a last run may hang, and must be ended


class Effort(NamedTuple):
    """How much is measured of each script."""

    rounds: int  # of the script's own switch
    minutes: float  # for each trial


def try_all(chosen: list[Specimen], folder: Path, effort: Effort) -> tuple[list[Tried], list[str]]:
    """The rows, and what went wrong."""
    rows, failures = [], []
    for specimen in chosen:
        try:
            rows.append(_saved_or_measured(specimen, _place(specimen, folder), effort))
        except Failed as error:
            failures.append(f"{specimen.name}: {_without_details(error, specimen)}")
            print(failures[-1], file=sys.stderr, flush=True)
            continue
        print(_progress(rows[-1]), file=sys.stderr, flush=True)
    return rows, failures


def _saved_or_measured(specimen: Specimen, saved: Path, effort: Effort) -> Tried:
    if saved.exists():
        return msgspec.json.decode(saved.read_bytes(), type=Tried)
    row = _tried(specimen, effort)
    saved.write_bytes(msgspec.json.encode(row))
    return row


def saved_rows(chosen: list[Specimen], folder: Path) -> list[Tried]:
    """What was measured so far, whenever that was."""
    there = (_place(specimen, folder) for specimen in chosen if is_saved(specimen, folder))
    return [msgspec.json.decode(path.read_bytes(), type=Tried) for path in there]


def is_saved(specimen: Specimen, folder: Path) -> bool:
    return _place(specimen, folder).exists()


def _place(specimen: Specimen, folder: Path) -> Path:
    return folder / f"{specimen.name}.json"


def _tried(specimen: Specimen, effort: Effort) -> Tried:
    row = Tried(specimen, machine.describe(), _trial(specimen, effort))
    if row.is_healthy:
        control = _trial(specimen, effort, "--fixes", changes_nothing.__name__)
        return msgspec.structs.replace(row, control=control)
    if row.speedup is None:
        return row  # there is nothing to hold the switch against
    gain = Gain([_switched(specimen) for _ in range(effort.rounds)])
    return msgspec.structs.replace(row, gain=gain)


def _trial(specimen: Specimen, effort: Effort, *options: str) -> TrialAnswer:
    command = [sys.executable, "-m", "stepscope", "try", "--json", f"--budget={effort.minutes:g}"]
    limit_s = effort.minutes * 60 + GRACE_S
    with tempfile.TemporaryDirectory() as folder:
        words = [*command, *options, str(specimen.path)]
        out = call(words, Path(folder), limit_s=limit_s, PYTHONPATH=str(ROOT))
    return msgspec.json.decode(out, type=TrialAnswer)


def _switched(specimen: Specimen) -> Round:
    """The script as it is, and with its own switch: recorded, as the runs of its trial are, since
    only a recording tells what other programs took of a step."""
    before, after = _recorded(specimen), _recorded(specimen, "--fixed")
    if before.lost is None or after.lost is None:
        return Round(before.mean_ms / 1e3, after.mean_ms / 1e3)
    return Round(*(each.mean_ms * (1 - (each.lost or 0.0)) / 1e3 for each in (before, after)))


def _recorded(specimen: Specimen, *options: str) -> MeasuredSteps:
    command = [sys.executable, "-m", "stepscope", "run", "--quiet", "--ops=off", "-o", "run"]
    with tempfile.TemporaryDirectory() as folder:
        call([*command, str(specimen.path), *options], Path(folder))
        try:
            return measured_steps(f"{folder}/run", None)
        except NoSteps as reason:
            raise Failed(str(reason)) from reason


def _without_details(error: Failed, specimen: Specimen) -> str:
    """What a held-out script printed is not for those who make fixes."""
    return "failed" if specimen.folder == HELD_OUT else str(error)


def _progress(row: Tried) -> str:
    return row.specimen.name if row.specimen.folder == HELD_OUT else " | ".join(cells(row))
