"""The recorded step times that the statistics are calibrated on."""

from pathlib import Path

import numpy as np

from benchmarks.recorded_noise import KEPT, Recorded, read, write


def test_what_is_written_is_read(tmp_path: Path) -> None:
    runs = [
        Recorded("numpy_steps", "quiet", 0, np.array([3_000, 3_100, 9_000])),
        Recorded("torch_cnn", "busy", 1, np.array([20_000])),
    ]
    write(runs, tmp_path / "noise.npz")
    again = read(tmp_path / "noise.npz")
    assert [run[:3] for run in again] == [run[:3] for run in runs]
    assert [run.us.tolist() for run in again] == [run.us.tolist() for run in runs]


def test_what_is_kept_is_small_and_sane() -> None:
    assert KEPT.stat().st_size < 300_000
    assert all(100 <= len(run.us) <= 300 and run.us.min() > 0 for run in read())
