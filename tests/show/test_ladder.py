"""The ladder as text."""

from typing import Any

import msgspec
from rich.console import Console

from stepscope.model.findings import Speedup
from stepscope.model.trial import LossCheck, Noise, Rung, TrialAnswer, TrialBaseline
from stepscope.show.terminal.ladder import in_one_line, ladder

PATCH = "--- train.py\n+++ train.py\n@@ -1 +1 @@\n-a\n+b\n"
BASELINE = TrialBaseline(
    step_ms=50.0, per_s=20.0, samples_per_s=None, steps=60, verdict="waits for input", run="runs/a"
)
SAME = LossCheck(
    same=True,
    how="bitwise",
    as_promised=True,
    max_difference=0.0,
    words="identical in all 60 steps",
)
KEPT = Rung(
    fix="num-workers", title="load in worker processes", finding="input-bound", status="kept",
    predicted=Speedup(expected=2.1, low=1.9, high=2.2), reason=None, what="num_workers=2",
    speedup=2.0, low=1.8, high=2.2, rounds=3, step_ms=25.0, loss=SAME, patch=PATCH, run="runs/b",
)  # fmt: skip
SKIPPED = Rung(
    fix=None, title="half of each step is your own Python", finding="host-code", status="skipped",
    predicted=None, reason="no change from outside can do this.", ceiling=2.0,
)  # fmt: skip
FAILED = Rung(
    fix="compile", title="compile", finding=None, predicted=None, status="failed",
    reason="killed by SIGILL",
)  # fmt: skip


def text_of(*rungs: Rung, **more: Any) -> str:
    answer = TrialAnswer(
        folder="stepscope-runs/try-train",
        baseline=BASELINE,
        noise=Noise(low=0.97, high=1.04) if rungs else None,
        rungs=list(rungs),
        runs=12,
        seconds=83.0,
        gained=2.0 if KEPT in rungs else None,
        **{"together": None, "stopped": None, **more},
    )
    console = Console(width=100, color_system=None)
    with console.capture() as captured:
        console.print(ladder(answer))
    return captured.get()


def test_prediction_and_measurement_stand_side_by_side() -> None:
    text = text_of(KEPT)
    assert text.startswith("2.00× as fast with 1 fix\nAs it is: waits for input\n")
    (row,) = [line for line in text.splitlines() if "+ num-workers" in line]
    assert "40.0" in row
    assert "2.00× (1.80–2.20)  2.10× (1.90–2.20)" in row
    assert "the script against itself: 0.970–1.04×" in text
    assert "num-workers: identical in all 60 steps" in text


def test_the_patch_is_there_to_copy_and_the_next_command_to_type() -> None:
    lines = [line.strip() for line in text_of(KEPT).splitlines()]
    at = lines.index("--- train.py")
    assert lines[at : at + 5] == PATCH.splitlines()
    assert lines[-1] == "stepscope show runs/b"


def test_what_was_not_kept_says_why_and_a_ceiling_that_it_is_computed() -> None:
    text = " ".join(text_of(KEPT, SKIPPED, FAILED).split())
    assert "host-code ceiling, computed: half of each step is your own Python" in text
    assert "can do this; at most 2.00× (computed from its share of the step, not measured)" in text
    assert "compile failed: killed by SIGILL" in text


def test_a_measured_ceiling_is_called_one_and_says_what_to_do() -> None:
    ceiling = msgspec.structs.replace(
        KEPT, fix="even-shapes", status="rejected", is_ceiling=True, patch="# Pad the batches.\n",
        reason="nothing to keep",
    )  # fmt: skip
    text = " ".join(text_of(ceiling).split())
    assert text.startswith("Nothing to keep: what was measured shows only how much there is")
    assert "ceiling, measured: at most 2.00× (1.80–2.20), nothing to keep. Pad the batches." in text
    useless = msgspec.structs.replace(ceiling, speedup=1.0, low=0.9, high=1.1)
    text = " ".join(text_of(useless).split())
    assert text.startswith("No fix gains anything that stands out from the noise.")
    assert "ceiling, measured: 1.00× (0.900–1.10), nothing to keep." in text  # and no "at most"


def test_what_the_time_went_into_is_said() -> None:
    text = " ".join(text_of(KEPT, step_seconds=20.0).split())
    assert "12 runs in 83.0 s (20.0 s in steps, 63.0 s in imports and set-up), in" in text


def test_a_gain_in_doubt_is_not_called_nothing() -> None:
    doubtful = msgspec.structs.replace(KEPT, status="rejected", low=0.8, high=5.0, reason="why")
    assert text_of(doubtful).startswith("Nothing to keep yet: what looks faster is not beyond")
    none = msgspec.structs.replace(doubtful, speedup=1.02)
    assert text_of(none).startswith("No fix gains anything that stands out from the noise.")


def test_a_healthy_script_and_one_that_nothing_helps_say_so() -> None:
    assert text_of().startswith("Nothing to try: no finding names a fix.")
    assert text_of().rstrip().endswith("stepscope show runs/a")
    assert text_of(FAILED).startswith("No fix was measured: none can be applied here.")
    late = text_of(FAILED, stopped="the budget of 2 minutes is used up")
    assert late.startswith("No fix was measured: the budget of 2 minutes is used up.")


def test_a_rung_in_one_line() -> None:
    assert in_one_line(KEPT) == "num-workers: kept, 2.00× (1.80–2.20)"
    assert in_one_line(FAILED) == "compile: failed, killed by SIGILL"
    ceiling = msgspec.structs.replace(KEPT, status="rejected", is_ceiling=True, reason="no more")
    assert in_one_line(ceiling) == "num-workers: ceiling, measured, 2.00× (1.80–2.20), no more"
