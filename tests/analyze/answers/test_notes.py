"""Notes: what happened in several processes is said once, with names where they help."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.analyze.run import all_notes, load

CUT = "lines.bin was cut off."


@pytest.mark.parametrize(
    ("whose", "words"),
    [
        ((1,), f"process 1: {CUT}"),
        ((1, 3), f"processes 1 and 3: {CUT}"),
        ((1, 2, 3), f"processes 1, 2 and 3: {CUT}"),
        (tuple(range(1, 8)), f"7 of 8 processes: {CUT}"),
        (tuple(range(1, 9)), CUT),
    ],
)
def test_a_note_of_several_processes_is_said_once(
    tmp_path: Path, whose: tuple[int, ...], words: str
) -> None:
    builder = RunBuilder(tmp_path / "run")
    for pid in range(1, 9):
        builder.process(pid=pid, role="main" if pid == 1 else "worker").write(ended_ns=5 * MS)
    run = load(builder.path)
    for process in run.processes:
        process.notes[:] = [CUT] if process.info.pid in whose else []
    assert all_notes(run) == [words]
