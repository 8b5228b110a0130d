"""What it gains to load less, elsewhere, or only once."""

from typing import Final

from stepscope.advise.gain.saving import HALF, MOST_INSTEAD, Saving

# Of what was read again: freeing it takes some of the time that making it took, hardly any for an
# array, a fifth and more for many small objects (`python -m benchmarks.gain_constants`).
_MOST_WITH_FREEING: Final = 1.2
_LOOKED_UP: Final = 0.1  # of the reading: what is kept still has to be found


def read_once(cost_ns: float, least_ns: float) -> Saving:
    """Or computed once. `least_ns`: what is certain to be reading."""
    least = max((1 - _LOOKED_UP) * least_ns, HALF * cost_ns)
    most = _MOST_WITH_FREEING * cost_ns
    return Saving(expected=cost_ns, least=least, most=most, is_replaced=False)


def less_of(wait_ns: float) -> Saving:
    """Where the run does not say what the loading could do without."""
    return Saving.part_of(wait_ns, expected=HALF, least=HALF * HALF)


def with_workers(wait_ns: float, gained_ns: float, least_ns: float) -> Saving:
    """By the simulation; `least_ns`: if every batch takes as long as the slow ones. Workers also
    share memory and caches with the step, which it does not know."""
    least = min(least_ns, (1 - MOST_INSTEAD) * gained_ns)
    return Saving(expected=gained_ns, least=least, most=wait_ns)


def in_pipeline(
    wait_ns: float, step_ns: float, *, computed_ns: float, cores: float, parallel: float
) -> Saving:
    """For tf.data: prefetched batches are loaded beside the step, several at a time. The step then
    takes what it takes itself, or the loading, or what all of it computes on the cores there are.
    What is kept (cache) costs nothing any more: half of the wait, even without another core."""
    left = max(step_ns - wait_ns, wait_ns / max(1.0, parallel), computed_ns / max(1.0, cores))
    expected = max(min(wait_ns, step_ns - left), HALF * wait_ns)
    return Saving(expected=expected, least=HALF * expected, most=wait_ns)
