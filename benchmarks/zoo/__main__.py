"""Runs the zoo and says how often the findings are right: `python -m benchmarks.zoo [NAMES…]`.

With `--try`, what `stepscope try` makes of them instead; with `--twice`, whether two recordings of
each say the same.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import msgspec

from benchmarks.run import OUT
from benchmarks.zoo import trial_results
from benchmarks.zoo.measure import Failed, Gain, findings, measured_round, record
from benchmarks.zoo.results import Judged, cells, page, page_of_some, summary, table
from benchmarks.zoo.specimens import HELD_OUT, KNOWN, Specimen, specimens
from benchmarks.zoo.trial_results import Skipped
from benchmarks.zoo.trials import Effort, is_saved, saved_rows, try_all
from benchmarks.zoo.twice import cells as twice_cells
from benchmarks.zoo.twice import page as twice_page
from benchmarks.zoo.twice import recorded_twice

RESULTS = Path(__file__).parent / "results.md"
TRIALS = Path(__file__).parent / "try.md"
ROUNDS = 3
MINUTES = 10.0  # what `stepscope try` takes by default
NOT_FASTER = (None, "memory-growth")  # here the fix does not save time


def gain_of(specimen: Specimen, saved: Path, rounds: int) -> Gain | None:
    """Measures the rounds that are still missing."""
    if specimen.id in NOT_FASTER:
        return None
    gain = msgspec.json.decode(saved.read_bytes(), type=Gain) if saved.exists() else Gain([])
    while len(gain.rounds) < rounds:
        gain.rounds.append(measured_round(specimen))
        saved.write_bytes(msgspec.json.encode(gain))
    return gain


def judged(specimen: Specimen, folder: Path, rounds: int) -> Judged:
    """What `folder` already holds is judged again, but not measured again."""
    run = folder / specimen.name
    if not (run / "run.json").exists():
        record(specimen, run)
    gain = gain_of(specimen, folder / f"{specimen.name}.gain.json", rounds)
    return Judged(specimen, findings(run), gain)


def judge_all(chosen: list[Specimen], folder: Path, rounds: int) -> tuple[list[Judged], list[str]]:
    """The rows, and what went wrong."""
    rows, failures = [], []
    for specimen in chosen:
        try:
            rows.append(judged(specimen, folder, rounds))
            print(" | ".join(cells(rows[-1])), file=sys.stderr, flush=True)
        except Failed as error:
            failures.append(f"{specimen.name}: {error}")
            print(failures[-1], file=sys.stderr, flush=True)
    return rows, failures


def wanted_specimens(names: list[str], only_held_out: bool) -> list[Specimen]:
    """Without names both sets; a name is one of the known scripts unless the other set is asked."""
    if only_held_out:
        return specimens(names, HELD_OUT)
    return specimens(names) + ([] if names else specimens([], HELD_OUT))


def of_folder(rows: list[Judged], folder: str) -> list[Judged]:
    return [row for row in rows if row.specimen.folder == folder]


def judge(asked: argparse.Namespace, chosen: list[Specimen], skipped: list[str]) -> list[str]:
    """Findings, against what is known; what went wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = (asked.runs or Path(name)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        rows, failures = judge_all(chosen, folder, asked.rounds)
    known, held_out = (of_folder(rows, each) for each in (KNOWN, HELD_OUT))
    for each in filter(None, (known, held_out)):
        print(f"{table(each)}\n\n{summary(each)}\n")
    write(asked, rows, RESULTS, page(known, held_out, skipped))
    if asked.page:
        asked.page.write_text(page_of_some(rows))
    return failures


def judge_trials(
    asked: argparse.Namespace, chosen: list[Specimen], skipped: list[str]
) -> list[str]:
    """Trials, against the scripts' own switches; what went wrong. The page has all that were ever
    measured: a few scripts may be tried at a time."""
    folder = (asked.runs or OUT / "zoo-try").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    rows, failures = try_all(chosen, folder, Effort(asked.rounds, asked.budget))
    if asked.json:
        asked.json.write_bytes(msgspec.json.format(msgspec.json.encode(rows)))
    known, held_out = (specimens([], each) for each in (KNOWN, HELD_OUT))
    text = trial_results.page(
        saved_rows(known, folder),
        saved_rows(held_out, folder),
        Skipped(skipped, [each.name for each in known if not is_saved(each, folder)]),
    )
    print(text)
    if not asked.runs:
        TRIALS.write_text(text)
    return failures


def judge_twice(asked: argparse.Namespace, chosen: list[Specimen], skipped: list[str]) -> list[str]:
    """Two recordings of each, against each other; what went wrong."""
    rows, failures = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = (asked.runs or Path(name)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for specimen in chosen:
            try:
                rows.append(recorded_twice(specimen, folder))
                print(" | ".join(twice_cells(rows[-1])), file=sys.stderr, flush=True)
            except Failed as error:
                failures.append(f"{specimen.name}: {error}")
    print(twice_page(rows))
    return failures


def write(asked: argparse.Namespace, rows: list[Judged], results: Path, text: str) -> None:
    """The page only when all scripts were asked for."""
    if asked.json:
        asked.json.write_bytes(msgspec.json.format(msgspec.json.encode(rows)))
    if not asked.names and not asked.held_out:
        results.write_text(text)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zoo", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAMES", help="scripts; all of them by default")
    parser.add_argument(
        "--held-out", action="store_true", help="only the blind test, the scripts in held_out/"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to FILE")
    parser.add_argument("--page", type=Path, metavar="FILE", help="also write a page of these rows")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="plain runs, faulty and fixed")
    parser.add_argument(
        "--runs",
        type=Path,
        metavar="FOLDER",
        help="keep recordings and times here, and reuse existing ones: to judge new rules; "
        "with --try, trials are kept in any case (benchmarks/out/zoo-try)",
    )
    parser.add_argument(
        "--try", dest="tries", action="store_true", help="what 'stepscope try' makes of the scripts"
    )
    parser.add_argument(
        "--twice", action="store_true", help="record each script twice and compare the findings"
    )
    parser.add_argument(
        "--budget", type=float, default=MINUTES, metavar="MINUTES", help="for each trial (10)"
    )
    return parser


def main() -> int:
    asked = arguments().parse_args()
    wanted = wanted_specimens(asked.names, asked.held_out)
    chosen = [specimen for specimen in wanted if specimen.can_run]
    skipped = [specimen.name for specimen in wanted if not specimen.can_run]
    by_recordings = judge_twice if asked.twice else judge
    failures = (judge_trials if asked.tries else by_recordings)(asked, chosen, skipped)
    if skipped:
        print(f"Not run, because they could not be imported here: {', '.join(skipped)}")
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
