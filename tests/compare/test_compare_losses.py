"""Whether two runs train the same, on series of losses made by hand."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from stepscope.analyze.steps.losses import Losses
from stepscope.compare.losses import LOWER_PRECISION, LossCheck, compare_losses

Values = Sequence[float] | npt.NDArray[np.float64]

# It falls from 2.3 and moves by some 5 % from batch to batch.
STEPS = 60
FALLING: npt.NDArray[np.float64] = 2.3 * np.exp(-np.arange(STEPS) / 80)
USUAL: npt.NDArray[np.float64] = FALLING * (1 + 0.05 * np.sin(2.4 * np.arange(STEPS)))
OTHER_BATCHES = FALLING * (1 + 0.05 * np.cos(4.3 * np.arange(STEPS) + 1))


def series(values: Values, in_step: int = 1) -> Losses:
    numbers = np.arange(len(values))
    return Losses(numbers // in_step, numbers % in_step, np.asarray(values, np.float64))


def check(before: Values, after: Values) -> tuple[str, int | None, str]:
    found = compare_losses(series(before), series(after))
    return found.same, found.first_step_apart, found.words


def drifting(growth: float) -> npt.NDArray[np.float64]:
    """Rounding that grows from step to step, up to 3 % of the loss."""
    apart = np.minimum(1e-7 * growth ** np.arange(STEPS), 0.03)
    drifted: npt.NDArray[np.float64] = USUAL * (1 + apart * np.sin(np.arange(STEPS) + 1))
    return drifted


def test_equal_losses_are_the_same() -> None:
    found = compare_losses(series(USUAL), series(USUAL))
    assert found == LossCheck(
        same="bitwise",
        max_difference=0.0,
        first_step_apart=None,
        steps=60,
        words="identical in all 60 steps",
    )


def test_the_last_bit_counts() -> None:
    after = USUAL.copy()
    after[3] = np.nextafter(after[3], 9)
    same, _, words = check(USUAL, after)
    assert (same, words) == ("within tolerance", "within 0.001 % over 60 steps")


def test_rounding_may_grow_up_to_what_the_loss_moves_by_itself() -> None:
    same, apart, words = check(USUAL, drifting(1.5))
    assert (same, apart) == ("within tolerance", None)
    assert words == "within 3 % over 60 steps, less than it moves from step to step"


def test_the_first_steps_must_agree_closely() -> None:
    """By the second step the weights are others: a learning rate of another size."""
    after = USUAL.copy()
    after[1:] *= 0.97
    after[1] = 1.97
    same, apart, words = check([2.31, *USUAL[1:]], [2.31, *after[1:]])
    assert (same, apart) == ("different", 2)
    assert words == f"different from step 2 on: {USUAL[1]:.3g} and 1.97"


def test_other_batches_are_another_training() -> None:
    assert check(USUAL, OTHER_BATCHES)[:2] == ("different", 1)


def test_other_batches_from_the_second_epoch_on_are_noticed_there() -> None:
    after = np.concatenate([USUAL[:30], OTHER_BATCHES[30:]])
    assert check(USUAL, after)[:2] == ("different", 31)


def test_one_odd_step_late_in_the_training_is_chance() -> None:
    after = drifting(1.2)
    after[40] *= 1.5
    assert check(USUAL, after)[0] == "within tolerance"


def test_fewer_bits_have_a_tolerance_of_their_own() -> None:
    after = USUAL * (1 + 5e-3 * np.sin(np.arange(STEPS) + 1))
    assert check(USUAL, after)[0] == "different"
    assert (
        compare_losses(series(USUAL), series(after), tolerance=LOWER_PRECISION).same
        == "within tolerance"
    )


def test_numbers_that_look_the_same_get_more_digits() -> None:
    assert check([2.0, 1.0], [2.0, 1.0005])[2] == "different from step 2 on: 1 and 1.0005"


def test_a_loss_that_crosses_zero_is_compared_with_its_own_movement() -> None:
    """A critic's loss: the relative difference at zero means nothing."""
    before = np.sin(np.arange(STEPS) * 0.7)
    before[20] = 0.0
    found = compare_losses(series(before), series(before + 1e-6))
    assert found.same == "within tolerance"
    assert found.max_difference is not None
    assert found.max_difference < 1e-5


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ([2.0, np.nan, np.nan], [2.0, np.nan, np.nan], "bitwise"),
        ([2.0, np.inf], [2.0, np.inf], "bitwise"),
        ([2.0, 1.5], [2.0, np.nan], "different"),
        ([2.0, np.inf], [2.0, -np.inf], "different"),
        ([0.0, 0.0], [0.0, 0.0], "bitwise"),
        ([0.0, 0.0], [0.0, 0.1], "different"),
    ],
)
def test_what_is_not_a_number_is_only_equal_to_its_like(
    before: list[float], after: list[float], same: str
) -> None:
    assert check(before, after)[0] == same


def test_a_gans_losses_are_two_curves() -> None:
    """The generator's is another one, the discriminator's is the same."""
    both, other = np.empty(2 * STEPS), np.empty(2 * STEPS)
    both[0::2] = other[0::2] = USUAL
    both[1::2] = 10 * USUAL
    other[1::2] = 10 * USUAL
    other[41::2] = 10 * OTHER_BATCHES[20:]
    found = compare_losses(series(both, 2), series(other, 2))
    assert (found.same, found.first_step_apart, found.steps) == ("different", 21, 60)


def test_losses_that_fall_into_the_next_step_make_no_curve_of_their_own() -> None:
    """A step ends with the discriminator's update, the last one has the generator's loss too."""
    values = np.stack([USUAL, 10 * USUAL], axis=1).ravel()
    drifted = np.stack([drifting(1.5), 10 * drifting(1.5)], axis=1).ravel()
    step = np.minimum((np.arange(2 * STEPS) + 1) // 2, STEPS - 1)
    before, after = (Losses(step, step * 0, each) for each in (values, drifted))
    found = compare_losses(before, after)
    assert (found.same, found.steps) == ("within tolerance", 60)


def test_a_shorter_run_is_compared_as_far_as_it_goes() -> None:
    found = compare_losses(series(USUAL), series(USUAL[:40]))
    assert (found.same, found.steps) == ("bitwise", 40)
    assert found.words == "identical in the 40 steps that both have"


@pytest.mark.parametrize("pair", [([], []), ([1.0], []), ([], [1.0])])
def test_without_a_loss_nothing_is_known(pair: tuple[list[float], list[float]]) -> None:
    found = compare_losses(series(pair[0]), series(pair[1]))
    assert (found.same, found.steps, found.words) == ("unknown", 0, "no loss was found")
    assert found.max_difference is None


# --- scripts whose own runs differ ----------------------------------------------------------------


def unseeded(seed: int) -> Losses:
    noise = np.random.default_rng(seed).normal(size=STEPS)
    return series(FALLING * (1 + 0.05 * noise))


def test_where_the_scripts_own_runs_differ_as_much_nothing_is_known() -> None:
    found = compare_losses(unseeded(1), unseeded(2), controls=[unseeded(3)])
    assert found.same == "unknown"
    assert found.words == "the script's own runs differ as much: unknown"
    assert compare_losses(unseeded(1), unseeded(2)).same == "different"


def test_what_differs_far_more_than_the_scripts_own_runs_is_different() -> None:
    wrong = series(unseeded(2).value * 3)
    assert compare_losses(unseeded(1), wrong, controls=[unseeded(3)]).same == "different"


def test_a_script_whose_own_runs_are_equal_excuses_nothing() -> None:
    usual = series(USUAL)
    found = compare_losses(usual, series(OTHER_BATCHES), controls=[usual, usual])
    assert found.same == "different"
