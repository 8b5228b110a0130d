"""A file that is read again, and one that is only mapped again."""

from pathlib import Path

import pytest

from build import CWD, MS, RunBuilder
from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.model.findings import Finding

SOURCE = """import numpy as np
PATH = "train.bin"
def get_batch():
    data = {opening}
    chosen = np.random.randint(0, len(data), 64)
    return data[chosen].astype(np.float32)
"""
MAPPED = "np.memmap(PATH, dtype=np.uint16, mode='r')"


def found(path: Path, opening: str, line_us: int) -> list[Finding]:
    """40 steps of 10 ms, 4 of them in get_batch, `line_us` in the line that opens the file."""
    run = RunBuilder(path)
    process = run.process()
    text = SOURCE.replace("{opening}", opening)
    code = process.code("get_batch", file=process.file(text=text), first_line=3)
    name = process.name("open", path=f"{CWD}/train.bin", code=code, line=4)
    process.lines(code, 4, [(40, 40 * line_us * 1000), (40, 0), (40, 40 * 3 * MS)], calls=40)
    process.step(0, begins=True)
    for number in range(40):
        at_ns = number * 10 * MS
        process.opened(name, at_ns, at_ns + 4 * MS)
        process.step(at_ns + 10 * MS, 64)
    process.write()
    answer = findings(load(run.path))
    return [each for each in answer.findings if each.id == "repeated-load"]


def test_a_file_that_is_read_again_is_a_finding(tmp_path: Path) -> None:
    (finding,) = found(tmp_path / "run", "np.fromfile(PATH, np.uint16)", 1_000)
    assert finding.share == pytest.approx(0.4)
    assert finding.trial == "cache-result"


@pytest.mark.parametrize(
    "opening", [MAPPED, "np.load(PATH, mmap_mode='r')", "np.load(\n        PATH, mmap_mode='r')"]
)
def test_a_file_that_is_mapped_again_is_none(tmp_path: Path, opening: str) -> None:
    assert found(tmp_path / "run", opening, 50) == []


def test_mapping_that_costs_is_a_finding_of_what_the_line_takes(tmp_path: Path) -> None:
    (finding,) = found(tmp_path / "run", MAPPED, 1_000)
    assert finding.title == "train.bin is re-mapped in every step"
    assert finding.share == pytest.approx(0.1)
    assert finding.trial is None
    assert finding.patch is None
    assert "Map train.bin once before the loop" in finding.fix
