"""Two recordings of one script: whether they say the same."""

from pathlib import Path

import pytest

from benchmarks.zoo.measure import Finding, Findings, Speedup
from benchmarks.zoo.specimens import Specimen, specimens
from benchmarks.zoo.twice import Twice, page, recorded_twice


def found(**gains: float) -> Findings:
    rows = [Finding(id, "…", None, Speedup(gain, 1.0, None)) for id, gain in gains.items()]
    return Findings("…", rows)


def twice(first: Findings, again: Findings) -> Twice:
    return Twice(Specimen("a_script", "host", ["f"], "numpy"), first, again)


def test_gains_are_compared_where_the_same_finding_comes_first() -> None:
    alike = twice(found(host=1.5, load=1.2), found(host=1.65, load=1.1))
    assert alike.is_same
    assert alike.ratio == pytest.approx(1.1)
    assert alike.is_alike
    apart = twice(found(host=4.1), found(host=2.7))
    assert not apart.is_alike
    other = twice(found(host=1.5, load=1.4), found(load=1.5, host=1.4))
    assert (other.is_same, other.is_same_order, other.ratio) == (False, False, None)
    assert "gains within 1.2 times: 1 of 2 (50%)" in page([alike, apart, other])


def test_two_runs_without_a_finding_are_the_same() -> None:
    nothing = twice(found(), found())
    assert (nothing.is_same, nothing.ratio, nothing.is_alike) == (True, None, None)


@pytest.mark.nightly
def test_a_script_is_recorded_twice_and_kept(tmp_path: Path) -> None:
    (specimen,) = specimens(["numpy_reload_archive"])
    row = recorded_twice(specimen, tmp_path)
    assert {run.name for run in tmp_path.iterdir()} == {specimen.name, f"{specimen.name}-again"}
    assert row.is_same
