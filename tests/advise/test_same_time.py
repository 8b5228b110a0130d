"""Two findings about the same time: which comes first, and that nobody adds them up."""

import numpy as np

from build import MS
from stepscope.advise.findings import _Weighed, limited_to_the_same_time
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.advise.gain.whatif import Steps
from stepscope.model import Process


def candidate(id: str, saved_ms: float, same_time_as: str | None = None) -> Candidate:
    saving = Saving.part_of(saved_ms * MS, expected=1.0, least=0.5)
    return Candidate(
        id=id, title="", verdict="", share=0.5, evidence=[], saving=saving, fix="",
        same_time_as=same_time_as,
    )  # fmt: skip


def told(*candidates: Candidate) -> list[tuple[str, str | None]]:
    steps = Steps(np.full(60, 10 * MS))
    who = Process(role="main", rank=None, pid=1)
    weighed = _Weighed(steps, who, limited_to_the_same_time(list(candidates)), every=False)
    return [(each.id, each.then) for each in weighed.findings]


def test_the_easier_fix_comes_first_and_the_other_is_the_same_time() -> None:
    python = candidate("python-in-graph", 6, same_time_as="input-bound")
    waits, loop = candidate("input-bound", 5), candidate("python-hot-loop", 2)
    assert told(python, waits, loop) == [
        ("input-bound", None),
        ("python-in-graph", "then: the same time as input-bound"),
        ("python-hot-loop", "then: 1.67× more"),
    ]


def test_without_the_other_finding_it_stands_for_itself() -> None:
    python = candidate("python-in-graph", 6, same_time_as="input-bound")
    loop = candidate("python-hot-loop", 2)
    assert told(loop, python) == [
        ("python-in-graph", None),
        ("python-hot-loop", "then: 2.00× more"),
    ]
