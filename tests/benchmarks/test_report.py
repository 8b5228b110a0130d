"""The benchmark report: ratios within rounds, and criteria that can fail."""

from typing import Any

import pytest

from benchmarks.ratios import Ratio, added_share, slowdown, spread, turns
from benchmarks.report import RESULTS, criteria, page, section, shown
from benchmarks.sampler import SAMPLED
from benchmarks.tools import CONTROL

MACHINE = {
    "python": "3.12.1",
    "processor": "a processor",
    "cores": 2,
    "system": "Linux",
    "date": "2026-01-01",
    "load_before": 0.1,
    "versions": {"stepscope": "0.1.0"},
}


def result(ours_s: float, steps_s: float, beside_s: float = 1.005) -> dict[str, Any]:
    """Plain takes 1 s, line_profiler 7 s."""
    times = {"plain": [1.0] * 3, "stepscope": [ours_s] * 3, "line_profiler": [7.0] * 3}
    beside = {
        "plain": [1.0] * 3,
        CONTROL: [0.98, 1.0, 1.02],
        "stepscope": [beside_s] * 3,
        "line_profiler": [4.0] * 3,
    }
    steps = {"plain": [1.0] * 3, CONTROL: [1.0] * 3, "stepscope": [steps_s] * 3}
    calls = {"plain": [1.0] * 3, "stepscope": [2.0] * 3, "cProfile": [4.0] * 3}
    sampled = {"plain": [1.0] * 3, CONTROL: [1.0] * 3, SAMPLED: [1.005] * 3}
    return {
        "machine": MACHINE,
        "inside": {"tight_loop": by_both_clocks(times), "calls_library": by_both_clocks(beside)},
        "whole": {"numpy_steps": by_both_clocks(steps)},
        "close": {"numpy_steps": by_both_clocks(steps)},
        "calls": {"recursion": by_both_clocks(calls)},
        "sampler": {
            "tight_loop": by_both_clocks(sampled),
            "numpy_steps": by_both_clocks(sampled),
        },
    }


def by_both_clocks(times: dict[str, list[float]]) -> dict[str, dict[str, list[float]]]:
    return {"wall_s": times, "cpu_s": times}


def test_a_slow_round_does_not_change_the_ratio() -> None:
    assert slowdown([2.0, 20.0, 2.0], [1.0, 10.0, 1.0]) == Ratio(2.0, 2.0, 2.0)


def test_the_spread_is_the_middle_half_of_the_rounds() -> None:
    assert spread([1.0, 2.0, 3.0, 4.0, 100.0]) == Ratio(3.0, 2.0, 4.0)


def test_what_is_added_is_counted_beyond_the_plain_time() -> None:
    assert added_share([2.0], [7.0], [1.0]).median == pytest.approx(1 / 6)


def test_a_criterion_that_holds_says_yes() -> None:
    assert criteria(result(ours_s=1.9, steps_s=1.01)).count("| yes |") == 6


def test_a_criterion_that_fails_says_no() -> None:
    text = criteria(result(ours_s=2.1, steps_s=1.03))
    assert text.count("| **no** |") == 2
    assert text.count("| yes |") == 4


def test_a_tool_that_failed_is_named_as_such() -> None:
    assert "| – |" in section(result(ours_s=1.5, steps_s=1.0))


def test_small_ratios_are_shown_to_the_tenth_of_a_percent() -> None:
    assert shown(Ratio(1.0123, 1.0, 1.02)) == "1.012 (1.000–1.020)"
    assert shown(Ratio(9.26, 9.0, 9.9)) == "9.3 (9.0–9.9)"


def test_a_cost_beyond_the_noise_is_measurable() -> None:
    text = criteria(result(ours_s=1.5, steps_s=1.0, beside_s=1.03))
    assert text.count("| **no** |") == 1


def test_every_tool_has_its_turn_in_every_round_and_no_fixed_place() -> None:
    rounds = list(turns(["a", "b", "c"], rounds=20))
    assert all(sorted(order) == ["a", "b", "c"] for order in rounds)
    assert {order[0] for order in rounds} == {"a", "b", "c"}


def test_a_python_that_was_not_measured_keeps_its_section() -> None:
    other = result(ours_s=1.2, steps_s=1.0)
    other["machine"] = {**MACHINE, "python": "3.9.1"}
    of_both = {"3.9": other, "3.12": result(ours_s=1.9, steps_s=1.01)}
    before = page(of_both, "")
    after = page({"3.12": result(ours_s=1.5, steps_s=1.0)}, before)
    assert after == page({**of_both, "3.12": result(ours_s=1.5, steps_s=1.0)}, "")
    assert after != before


def test_the_committed_page_is_read_as_it_was_written() -> None:
    written = RESULTS.read_text()
    assert page({}, written) == written
