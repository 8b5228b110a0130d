"""Where memory is limited, a run ends with its summary, its report and the script's exit status."""

import subprocess
import sys
from pathlib import Path

import pytest

from clean_environment import environment
from robustness.running import PROGRAMS
from transparency.both import PATIENCE_S

LIMITS_MB = [400, 1000]  # of address space


def run_within(limit_mb: int, folder: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "stepscope", "run", "-o", "run", str(PROGRAMS / "naps.py")]
    return subprocess.run(
        ["sh", "-c", f'ulimit -v {limit_mb * 1024}; exec "$@"', "sh", *words],
        cwd=folder,
        env={**environment(), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize("limit_mb", LIMITS_MB)
def test_only_the_tables_are_left_out_under_a_limit(limit_mb: int, tmp_path: Path) -> None:
    done = run_within(limit_mb, tmp_path)
    assert done.returncode == 7, done.stderr
    assert "run/report.html" in done.stderr, done.stderr
    assert "memory is limited here" in done.stderr
    assert "memory allocation" not in done.stderr
    assert (tmp_path / "run" / "report.html").exists()
    assert not (tmp_path / "run" / "tables" / "steps.parquet").exists()
