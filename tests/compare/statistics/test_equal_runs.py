"""Runs of the same script, with recorded noise: at most one comparison in twenty finds a difference
that is not there."""

import itertools
from collections.abc import Iterable

import numpy as np
import pytest

from benchmarks.recorded_noise import Recorded, read
from compare.statistics.noise import equal_pairs, steps_of, surrogate
from nights import nightly_but
from stepscope.compare.statistics.paired_rounds import rounds
from stepscope.compare.statistics.speedup import speedup

Pair = tuple[Recorded, Recorded]
MOST_WRONG = 0.05
FIRST_UNSEEN = 8  # the moments from here on were recorded after the constants had been chosen


def share_told_apart(pairs: Iterable[Pair]) -> float:
    return float(np.mean([speedup([steps_of(a)], [steps_of(b)]).is_significant for a, b in pairs]))


def groups(at_least: int) -> list[list[Recorded]]:
    """Runs of one script, condition and moment, in order."""
    found = (list(runs) for _, runs in itertools.groupby(sorted(read(), key=same), key=same))
    return [runs for runs in found if len(runs) >= at_least]


def same(run: Recorded) -> tuple[str, str, int]:
    return run.script, run.condition, run.moment


def test_there_are_more_than_two_hundred_pairs_under_every_condition() -> None:
    pairs = list(equal_pairs())
    assert len(pairs) > 200
    assert {one.condition for one, _ in pairs} == {"quiet", "shared", "busy"}


def test_equal_runs_are_rarely_told_apart() -> None:
    assert share_told_apart(equal_pairs()) <= MOST_WRONG


def test_equal_runs_that_nothing_was_chosen_on_are_rarely_told_apart() -> None:
    pairs = [pair for pair in equal_pairs() if pair[0].moment >= FIRST_UNSEEN]
    assert len(pairs) > 100
    assert share_told_apart(pairs) <= MOST_WRONG


def test_resampled_equal_runs_are_rarely_told_apart() -> None:
    random = np.random.default_rng(0)
    pairs = [(surrogate(run, random), surrogate(run, random)) for run in read() for _ in range(2)]
    assert len(pairs) > 200
    assert share_told_apart(pairs) <= MOST_WRONG


@pytest.mark.parametrize("runs", nightly_but([(2, 2)], [(2, 1), (2, 2), (3, 1), (3, 3)]))
def test_repeated_equal_runs_are_rarely_told_apart(runs: tuple[int, int]) -> None:
    random = np.random.default_rng(1)
    wrong = []
    for group in groups(at_least=sum(runs)):
        for _ in range(10):
            chosen = [steps_of(group[index]) for index in random.permutation(len(group))]
            found = speedup(chosen[: runs[0]], chosen[runs[0] : sum(runs)])
            wrong.append(found.is_significant)
    assert np.mean(wrong) <= MOST_WRONG


def test_rounds_of_equal_runs_are_rarely_told_apart() -> None:
    """With one round as the control, and two of each side or the other way round."""
    random = np.random.default_rng(2)
    wrong = []
    for group in groups(at_least=6):
        means = [float(run.us.mean()) / 1e3 for run in group]
        for _ in range(20):
            control, first, second = random.permutation(3)
            pairs = [(means[2 * each], means[2 * each + 1]) for each in (first, second)]
            turned = [pair[::-1] if random.integers(2) else pair for pair in pairs]
            noise = [means[2 * control] / means[2 * control + 1]]
            before, after = zip(*turned, strict=True)
            wrong.append(rounds(before, after, noise).is_significant)
    assert np.mean(wrong) <= MOST_WRONG


def test_one_round_of_equal_runs_is_hardly_ever_told_apart() -> None:
    """Without a control: what is known of such rounds in general decides."""
    means = [[float(run.us.mean()) for run in group] for group in groups(at_least=2)]
    pairs = [pair for group in means for pair in itertools.pairwise(group)]
    wrong = [rounds([one], [other]).is_significant for one, other in pairs]
    assert len(pairs) > 100
    assert np.mean(wrong) <= 0.01


def test_quiet_and_busy_runs_are_told_apart() -> None:
    """A machine that is busy during one run only does make its steps slower. The times of the
    steps cannot say why; the CPU time, which the caller compares as well, can."""
    of_quiet, of_busy = (
        [run for run in read() if run.condition == condition and run.script == "numpy_steps"]
        for condition in ("quiet", "busy")
    )
    assert share_told_apart(zip(of_quiet, of_busy, strict=False)) > 0.9


@pytest.mark.nightly
@pytest.mark.parametrize("steps", [300, 1_000, 3_000])
def test_longer_resampled_runs_are_rarely_told_apart(steps: int) -> None:
    random = np.random.default_rng(steps)
    pairs = [
        (surrogate(run, random, steps), surrogate(run, random, steps))
        for run in read()
        for _ in range(10)
    ]
    assert share_told_apart(pairs) <= MOST_WRONG
