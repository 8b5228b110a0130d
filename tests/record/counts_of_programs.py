"""Counts the lines and calls of programs, to compare one Python with another.

`PYTHONPATH=tests python3.13 -m record.counts_of_programs` writes counts_of_programs.json anew.
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from asking import answer
from clean_environment import environment
from compared_calls import COMPARED
from transparency.both import PATIENCE_S

FILE: Final = Path(__file__).with_suffix(".json")
Counts = dict[str, dict[str, int]]  # lines: number to hits; calls: function to calls


def counts_of(program: Path, folder: Path, variables: Mapping[str, str] = {}) -> Counts:
    words = [sys.executable, "-m", "stepscope", "run", "--quiet", "--exact", "--calls"]
    subprocess.run(
        [*words, "-o", "run", str(program)],
        cwd=folder,
        env=environment(variables),
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=PATIENCE_S,
    )
    run = folder / "run"
    return {"lines": _lines(run, program), "calls": _calls(run, program)}


def _lines(run: Path, program: Path) -> dict[str, int]:
    """Of all functions together: a Python may inline one into another."""
    hits: Counter[int] = Counter()
    for function in answer(run, "lines", "--top", "1000")["functions"]:
        if function["file"] == str(program):
            hits.update({line["line"]: line["hits"] for line in function["lines"] if line["hits"]})
    return {str(line): hits[line] for line in sorted(hits)}


def _calls(run: Path, program: Path) -> dict[str, int]:
    calls: Counter[str] = Counter()
    for row in answer(run, "functions", "--top", "10000")["functions"]:
        if row["file"] == str(program) and row["ncalls"]:
            calls[f"{row['function']}:{row['line']}"] += row["ncalls"]
    return dict(sorted(calls.items()))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        counts = {}
        for program in COMPARED:
            folder = Path(name) / program.stem
            folder.mkdir()
            counts[program.stem] = counts_of(program, folder)
    rows = (f"{json.dumps(name)}: {json.dumps(found)}" for name, found in sorted(counts.items()))
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
