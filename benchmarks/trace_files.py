"""Makes traces of any size and of many ranks, asks `stepscope` for their summary, and writes
benchmarks/trace_files.md: CPU time and the most memory, by events, by ranks, and beside HTA.

`python -m benchmarks.trace_files [--events N,...] [--ranks N,...] [--beside-hta EVENTS]
[--hta-limit SECONDS] [--rounds N]`

Each part writes its own rows when it is done; a part that is not asked for keeps those that are
there.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks import beside_hta, machine
from benchmarks.analysis import MB, Answered, stepscope
from benchmarks.made_traces import make
from benchmarks.report import table
from benchmarks.same_as_hta import ENVIRONMENT

RESULTS: Final = Path(__file__).parent / "trace_files.md"
ROWS: Final = Path(__file__).parent / "trace_files.json"
EVENTS: Final = (100_000, 1_000_000, 2_000_000, 10_000_000)
RANKS: Final = (8, 64, 512)
BESIDE_HTA: Final = 2_000_000
HTA_LIMIT_S: Final = 600  # ten times what it took for as many events on a quiet machine
ROUNDS: Final = 3
_EVENTS_OF_A_RANK: Final = 3_000
INTRODUCTION: Final = """# What a trace of another tool costs

Made by `python -m benchmarks.trace_files`; do not edit. CPU time of the whole command with all its
processes, the median of {rounds}, and the most memory that one process had.
{machine}.

The traces are made as torch.profiler writes them of a training on a device, {bytes} bytes an event.
"""
Row = list[str]


def measured(rounds: int, ask: Callable[[], Answered]) -> Answered:
    answers = [ask() for _ in range(rounds)]
    return Answered(
        statistics.median(each.seconds for each in answers),
        statistics.median(each.cpu_s for each in answers),
        max(each.peak_bytes for each in answers),
    )


def cost(answer: Answered, events: int) -> Row:
    micro = 1e6 * answer.cpu_s / events
    return [f"{answer.cpu_s:.1f} s", f"{micro:.1f} µs", f"{answer.peak_bytes / MB:,.0f} MB"]


# --- by events ------------------------------------------------------------------------------------


def by_events(folder: Path, counts: list[int], rounds: int) -> Iterator[Row]:
    for count in counts:
        path = make(folder / f"{count}.json.gz", count)
        found = measured(rounds, partial(stepscope, "show", str(path)))
        yield [f"{count:,}", f"{path.stat().st_size / MB:,.0f} MB", *cost(found, count)]
        path.unlink()


# --- by ranks -------------------------------------------------------------------------------------


def by_ranks(folder: Path, counts: list[int], rounds: int) -> Iterator[Row]:
    for count in counts:
        ranks = folder / f"{count}-ranks"
        ranks.mkdir()
        for rank in range(count):
            make(ranks / f"rank{rank}.json.gz", _EVENTS_OF_A_RANK, rank)
        for engine in ("processes", "dask"):
            words = ("show", str(ranks), "ranks", "--engine", engine)
            found = measured(rounds, partial(stepscope, *words))
            yield [
                f"{count:,}",
                engine,
                f"{found.seconds:.1f} s",
                *cost(found, count * _EVENTS_OF_A_RANK),
            ]


# --- the page -------------------------------------------------------------------------------------

_HEADS: Final = {
    "By events": ["events", "file", "CPU time", "of an event", "memory at most"],
    f"By ranks of {_EVENTS_OF_A_RANK:,} events": [
        "ranks", "engine", "takes", "CPU time", "of an event", "memory at most"
    ],
    "Beside HTA": [
        "events", "what", "stepscope", "HTA", "HTA takes", "at least", "holds"
    ],
}  # fmt: skip
_ABOUT: Final = {
    "By events": (
        "`show` of one file, zipped. An event takes the same time, and beyond some two million of "
        "them as much again to move arrays to disk, which is what keeps the memory from growing."
    ),
    f"By ranks of {_EVENTS_OF_A_RANK:,} events": (
        "`show ranks` of a folder, read by processes of this machine and by dask's workers on it."
    ),
    "Beside HTA": (
        "The summary of the same zipped file, and HTA's reading of it with its temporal breakdown "
        "alone, in an environment of its own. `over`: HTA was stopped, by a limit of CPU time or "
        "by the system for lack of memory, and had used so much by then."
    ),
}


def page(rows: dict[str, list[Row]], rounds: int) -> str:
    made = [
        f"## {title}\n\n{_ABOUT[title]}\n\n{table(head, rows[title])}\n"
        for title, head in _HEADS.items()
        if title in rows
    ]
    about = machine.sentence(machine.describe())
    return "\n".join([INTRODUCTION.format(rounds=rounds, machine=about, bytes=280), *made])


def write(title: str, made: list[Row], rounds: int) -> None:
    """At once: what comes after it may fail."""
    rows = json.loads(ROWS.read_text()) if ROWS.exists() else {}
    rows[title] = made
    ROWS.write_text(json.dumps(rows, indent=1) + "\n")
    RESULTS.write_text(page(rows, rounds))


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",") if word]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=numbers, metavar="N,...")
    parser.add_argument("--ranks", type=numbers, metavar="N,...")
    parser.add_argument("--beside-hta", type=int, metavar="EVENTS")
    parser.add_argument("--hta-limit", type=int, default=HTA_LIMIT_S, metavar="SECONDS")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--environment", type=Path, default=ENVIRONMENT, help="HTA's own")
    given = parser.parse_args()
    is_all = given.events is None and given.ranks is None and given.beside_hta is None
    events, ranks, hta = _HEADS
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if is_all or given.events is not None:
            counts = given.events or list(EVENTS)
            write(events, list(by_events(folder, counts, given.rounds)), given.rounds)
        if is_all or given.ranks is not None:
            counts = given.ranks or list(RANKS)
            write(ranks, list(by_ranks(folder, counts, given.rounds)), given.rounds)
        if is_all or given.beside_hta is not None:
            count = given.beside_hta or BESIDE_HTA
            beside = beside_hta.rows(folder, count, given.environment, given.hta_limit)
            write(hta, beside, given.rounds)
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
