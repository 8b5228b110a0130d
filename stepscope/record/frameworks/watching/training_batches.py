"""Steps that a framework reports: its training batches, with their number of samples."""

from typing import Final

from stepscope.native import _core
from stepscope.record.names import naming
from stepscope.record.steps import step_counter
from stepscope.store.format import StepMark


class Batches:
    """`name`: of the framework."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._samples = 0

    def add(self, batch: object) -> int:
        """This batch is part of the running step. Returns its number of samples, 0: not known."""
        samples = samples_in(batch)
        samples = _sizes.get(samples, samples)
        self._samples += samples
        return samples

    def step_ended(self) -> None:
        samples, self._samples = self._samples, 0
        if naming.name_id is None:
            return
        name = naming.name_id(self._name)
        _core.step_mark(who=StepMark.FRAMEWORK, samples=samples, name=name)
        step_counter.step_ended(step_counter.Source.BATCH)


# By the first dimension of the batches that a loader gave: what its sampler says if that differs.
_sizes: Final[dict[int, int]] = {}
_MOST_SIZES: Final = 10_000  # sequences of any length


def known_size(found: int, size: int) -> None:
    """A batch whose first dimension is `found` has `size` samples."""
    if found == size:
        _sizes.pop(found, None)
    elif len(_sizes) < _MOST_SIZES:
        _sizes[found] = size


def end_input(span: int, batch: object) -> None:
    """The wait for `batch` is over; None: there was no other."""
    _core.span_end(span, samples_in(batch))


def samples_in(batch: object) -> int:
    """0: not known."""
    return _core.samples_in(batch) or 0
