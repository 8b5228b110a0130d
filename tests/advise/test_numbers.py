"""How findings write times and gains."""

from pathlib import Path

import pytest

from build import MS, RunBuilder
from stepscope.advise.evidence import words
from stepscope.advise.findings import findings
from stepscope.analyze.run import load
from stepscope.model.findings import Speedup


@pytest.mark.parametrize(
    ("step_ms", "written"), [(2_080, "2.08 s"), (61.23, "61.2 ms"), (1_000_000, "16 min 40 s")]
)
def test_the_verdict_writes_a_long_step_without_an_exponent(
    tmp_path: Path, step_ms: float, written: str
) -> None:
    run = RunBuilder(tmp_path / "run")
    process = run.process()
    for number in range(1, 31):
        process.step(int(number * step_ms * MS))
    process.write()
    assert written in findings(load(run.path)).verdict


def test_findings_write_every_number_in_plain_digits() -> None:
    assert words.ms(2_080 * MS) == "2.08 s"
    assert words.ms(123 * MS) == "123 ms"
    assert words.ms(12_300) == "12.3 µs"
    assert words.gain(Speedup(expected=300.0, low=123.4, high=None)) == "at least 123×"
    assert words.gain(Speedup(expected=7.0, low=6.0, high=None)) == "at least 6×"


@pytest.mark.parametrize(
    ("share", "written"),
    [(0.0, "0 %"), (0.001, "less than 1 %"), (0.005, "less than 1 %"), (0.0051, "1 %"),
     (0.115, "12 %"), (1.0, "100 %")],
)  # fmt: skip
def test_a_little_is_not_nothing(share: float, written: str) -> None:
    assert words.percent(share) == written
