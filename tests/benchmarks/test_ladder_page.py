"""The page of `make ladder` says of each rung what it gains and what the losses do."""

from pathlib import Path

import msgspec

from benchmarks.ladder.__main__ import EXAMPLES, NAMES, saved
from benchmarks.ladder.page import Climbed, in_all, page, rows
from stepscope.model.findings import Speedup
from stepscope.model.trial import LossCheck, Noise, Rung, TrialAnswer, TrialBaseline

MACHINE = {
    "date": "2026-11-18", "processor": "a CPU", "cores": 2, "system": "Linux", "load_before": 0.1,
    "python": "3.11.7", "versions": {"scalene": "2.4.0", "torch": "2.13.0"},
}  # fmt: skip
SAME = LossCheck(
    same=True, how="bitwise", as_promised=True, max_difference=0.0, words="identical in 100 steps"
)
KEPT = Rung(
    fix="num-workers", title="load in worker processes", finding="input-bound", status="kept",
    predicted=Speedup(expected=2.1, low=1.9, high=2.2), reason=None, what="num_workers=2",
    speedup=2.0, low=1.8, high=2.25, rounds=3, step_ms=25.0, loss=SAME, patch="…", run="runs/b",
)  # fmt: skip
REJECTED = msgspec.structs.replace(
    KEPT, fix="compile", title="compile the model", predicted=None, status="rejected",
    reason="slower", speedup=0.8, low=0.7, high=0.9, step_ms=50.0, loss=None,
)  # fmt: skip
SKIPPED = Rung(
    fix="tf32", title="…", finding=None, predicted=None, status="skipped", reason="needs a GPU"
)


def answer(*rungs: Rung, together: Speedup | None = None) -> TrialAnswer:
    baseline = TrialBaseline(
        step_ms=50.0, per_s=20.0, samples_per_s=1280.0, steps=60, verdict="waits", run="runs/a"
    )
    return TrialAnswer(
        folder="stepscope-runs/try-a", baseline=baseline, noise=Noise(low=0.97, high=1.04),
        rungs=list(rungs), together=together, runs=12, seconds=83.0, stopped=None,
    )  # fmt: skip


def test_a_rung_has_its_throughput_and_its_loss_check() -> None:
    assert list(rows(answer(KEPT, REJECTED, SKIPPED))) == [
        ["as it is", "20.0", "1,280", "", "", "", ""],
        [
            "num-workers: load in worker processes", "40.0", "2,560", "2.00 (1.80–2.25)",
            "2.10 (1.90–2.20)", "identical in 100 steps", "**kept**",
        ],
        [
            "compile: compile the model", "20.0", "1,280", "0.80 (0.70–0.90)", "–", "–",
            "rejected: slower",
        ],
    ]  # fmt: skip


def test_the_gain_of_several_is_the_one_measured_together() -> None:
    assert in_all(answer(REJECTED)) == "nothing gained"
    assert in_all(answer(KEPT)) == "2.00× as fast"
    assert in_all(answer(KEPT, KEPT)) == "4.00× as fast"
    together = Speedup(expected=3.5, low=3.3, high=3.7)
    assert in_all(answer(KEPT, KEPT, together=together)) == "3.50× as fast"


def test_the_page_has_machine_versions_and_what_the_terminal_shows() -> None:
    command = ["stepscope", "try", "--ladder", "gan_torch.py"]
    text = page([Climbed("gan_torch", command, MACHINE, answer(KEPT))])
    assert "## gan_torch: 2.00× as fast" in text
    assert "2026-11-18, a CPU, 2 cores, Linux; load before 0.1; Python 3.11.7; torch 2.13.0" in text
    assert "$ stepscope try --ladder gan_torch.py\n2.00× as fast with 1 fix\n" in text
    assert "scalene" not in text


def test_the_scripts_that_it_climbs_from_are_there() -> None:
    assert all((EXAMPLES / "ladder" / f"{name}.py").exists() for name in NAMES)


def test_a_ladder_that_was_not_climbed_is_left_out(tmp_path: Path) -> None:
    climbed = Climbed(NAMES[1], ["stepscope"], MACHINE, answer(KEPT))
    (tmp_path / f"{NAMES[1]}.json").write_bytes(msgspec.json.encode(climbed))
    assert saved(tmp_path) == [climbed]
