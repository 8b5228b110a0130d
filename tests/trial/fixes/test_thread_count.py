"""As many compute threads as cores, whatever the script asks for."""

from pathlib import Path

import pytest

import needs
from trial.scripts import run_with

_SCRIPT = """
import os
print(os.environ["OPENBLAS_NUM_THREADS"])
os.environ["OMP_NUM_THREADS"] = "16"
os.environ.setdefault("MKL_NUM_THREADS", "16")
os.environ["OTHER"] = "16"
print(*(os.environ[name] for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OTHER")))
"""
_TORCH = """
import torch
print(torch.get_num_threads())
torch.set_num_threads(16)
print(torch.get_num_threads())
torch.set_num_threads(1)
print(torch.get_num_threads())
"""


def test_variables_are_set_before_the_script_and_never_above_the_number(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    tried = run_with(script, fixes={"thread-count": {"count": 3}}, into=tmp_path / "run")
    assert tried.stdout.splitlines() == ["3", "3 3 16"]
    assert tried.applied("thread-count") == "3 compute threads"


@pytest.mark.nightly  # a process that loads torch
def test_torch_gets_no_more_than_the_number_either(tmp_path: Path) -> None:
    needs.require("torch")
    script = tmp_path / "script.py"
    script.write_text(_TORCH)
    tried = run_with(script, fixes={"thread-count": {"count": 2}}, into=tmp_path / "run")
    assert tried.stdout.split() == ["2", "2", "1"]
