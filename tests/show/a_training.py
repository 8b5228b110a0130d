"""A hand-made training: a loop whose turns have the given durations."""

from pathlib import Path
from typing import Any

from build import MS, RunBuilder

STEP_NS = 5 * MS


def training(path: Path, turns_ns: list[int], **fields: Any) -> RunBuilder:
    run = RunBuilder(path, **fields)
    process = run.process()
    code = process.code(file=process.file(text="a = 1\nb = 2\nc = 3\nfor x in y:\n    step(x)\n"))
    end_ns = process.for_loop(process.loop(code, 4, 5), 10 * MS, turns_ns)
    process.lines(code, 4, [(len(turns_ns) + 1, 0), (len(turns_ns), sum(turns_ns))])
    process.write(ended_ns=end_ns + MS)
    run.supervisor(ended_ns=end_ns + MS)
    return run
