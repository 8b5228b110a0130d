"""What it gains to load less, elsewhere, or only once."""

from typing import Final

from stepscope.advise.gain.saving import Saving

# Of what was read again. Freeing it takes some of the time that making it took: hardly any for an
# array, a fifth and more for many small objects (`python -m benchmarks.gain_constants`). At least
# half of what the function does is reading.
_WITH_FREEING: Final = 1.04
_MOST_WITH_FREEING: Final = 1.2
_LEAST_READING: Final = 0.5
_STILL_TRAINS: Final = 0.02  # of the step: even without reading it still has to train
_PREPARED: Final = 0.95  # of a line whose result is kept: it still has to be looked up
# Of the wait, regardless of the lines: some work for each sample remains, but rarely most of it.
_USUALLY_GAINED: Final = 0.5
_LEAST_GAINED: Final = 0.4
# Of what the simulation says: starting and waking workers and shared caches cost up to a third.
_LEAST_SIMULATED: Final = 0.7


def read_once(cost_ns: float, least_ns: float, step_ns: float) -> Saving:
    """`least_ns`: what is certain to be reading."""
    most_ns = (1 - _STILL_TRAINS) * step_ns
    return Saving(
        expected=min(_WITH_FREEING * cost_ns, max(cost_ns, most_ns)),
        least=max(0.9 * least_ns, _LEAST_READING * cost_ns),  # a tenth to look up what is kept
        most=min(_MOST_WITH_FREEING * cost_ns, most_ns),
    )


def prepared_ahead(wait_ns: float, hottest_share: float) -> Saving:
    """The hottest line of the loading done once, before the steps."""
    expected = max(_USUALLY_GAINED, _PREPARED * hottest_share)
    return Saving.part_of(wait_ns, expected=expected, least=_LEAST_GAINED)


def with_workers(wait_ns: float, gained_ns: float, otherwise: Saving) -> Saving:
    """`gained_ns`: by the simulation; `otherwise`: what less work would gain."""
    least = min(_LEAST_SIMULATED * gained_ns, otherwise.least)
    return Saving(expected=gained_ns, least=least, most=wait_ns)


def in_pipeline(wait_ns: float, step_ns: float, idle_part: float) -> Saving:
    """For tf.data: what runs beside the step still has to be computed, by the idle cores. Only what
    is kept (cache) costs nothing any more: half of the wait, even without idle cores."""
    beside = min(_PREPARED * wait_ns, step_ns * idle_part)
    return Saving(
        expected=max(beside, _USUALLY_GAINED * wait_ns),
        least=min(beside, _LEAST_GAINED * wait_ns),
        most=wait_ns,
    )


def made_before(wait_ns: float, ahead_ns: float, error_ns: float) -> Saving:
    """Batches of a generator, made once or in array operations, which leave a tenth. `ahead_ns`:
    what a process that makes them ahead would gain; `error_ns`: of the samples behind the wait."""
    least = max(0.3 * wait_ns, _LEAST_SIMULATED * ahead_ns)
    return Saving(expected=0.9 * wait_ns, least=least, most=wait_ns + error_ns)
