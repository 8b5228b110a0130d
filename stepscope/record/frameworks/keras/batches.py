"""Keras: the training batches of `fit` are the steps, and each `train_on_batch` computes one.

We watch the list of callbacks, which every `fit` notifies of its batches. A callback of our own in
it could stop Keras from calling callbacks asynchronously.
"""

import functools
import itertools
import threading
import weakref
from typing import Any, Final, NamedTuple

from stepscope.native import _core
from stepscope.record.frameworks.keras.package import Package
from stepscope.record.frameworks.watching import current_work, notes
from stepscope.record.frameworks.watching.current_work import here
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import end_span, leave_out_this_frame
from stepscope.record.frameworks.watching.training_batches import samples_in
from stepscope.record.names import naming
from stepscope.record.steps import step_counter
from stepscope.signal_handlers import let_pass
from stepscope.store.format import SpanCategory, StepMark, about_compute

_NAME: Final = "Keras"
_COMPUTE: Final = "train function"
_FIRST_MODEL: Final = 1 << 24  # functions are numbered below
_FIT: Final = _FIRST_MODEL - 1  # the number of what computes a batch of `fit`
_FARTHEST: Final = 8  # how deep a dataset's batching is looked for


class Sizes(NamedTuple):
    """How many samples the batches of an epoch have; 0: not known."""

    batch: int = 0
    batches: int = 0  # in the epoch
    last: int = 0  # in the last batch, if that differs

    def of(self, number: int) -> int:
        is_last = self.last and self.batches and number == self.batches - 1
        return self.last if is_last else self.batch


class _Fit(threading.local):
    """The batch that this thread trains on."""

    began_ticks = 0  # 0: none is running
    first = 0  # its number; one event of Keras may cover several
    together = 0  # the most that one event covered
    span = 0
    sizes = Sizes()
    fetched: tuple[int, ...] = ()  # samples in the batches that were fetched for it


_fit: Final = _Fit()


def install(package: Package, patches: Patches) -> None:
    _watch_batches(package, patches)
    _watch_train_on_batch(package, patches)
    if package.is_legacy:
        handler = package.module("engine.data_adapter").DataHandler
        _watch_sizes(handler, "steps", _legacy_sizes, patches)
    else:
        epoch = package.module("trainers.epoch_iterator").EpochIterator
        _watch_sizes(epoch, "__iter__", _sizes, patches)
        _watch_input(epoch, patches)
        if package.backend == "jax":
            iterators = package.module("backend.jax.trainer").JAXEpochIterator
            _watch_iterators(iterators, patches)


# --- fit ------------------------------------------------------------------------------------------


def _watch_batches(package: Package, patches: Patches) -> None:
    callbacks = package.callback_list
    # TensorFlow's functions report themselves, and so do torch's modules and optimizers.
    is_silent = package.backend not in ("tensorflow", "torch")

    def begun(_callbacks: Any, batch: Any, *_args: Any, **_kwargs: Any) -> None:
        _begins(batch, as_one=is_silent)

    patches.follow(callbacks, "on_train_batch_begin", begun)
    patches.watch(callbacks, "on_train_batch_end", _ends, _batch_ended, _batch_failed)


def _begins(batch: Any, *, as_one: bool) -> None:
    """`as_one`: record the batch as a whole, because nothing inside it is seen."""
    if naming.name_id is None:
        return
    _fit.began_ticks, _fit.first = _core.ticks(), int(batch)
    if as_one:
        _fit.fetched = ()
    here.in_batch = here.has_fitted = True
    if as_one:
        name, about = naming.name_id(_COMPUTE), about_compute(samples=0, updates=True)
        _fit.span = _core.span_begin(name, SpanCategory.COMPUTE, _FIT, about)


def _ends(callbacks: Any, batch: Any, *_args: Any, **_kwargs: Any) -> tuple[Any, Any]:
    """The batch is computed: the callbacks come now."""
    span, _fit.span = _fit.span, 0
    if span:
        _core.span_end(span)
    return callbacks, batch


def _batch_ended(ending: tuple[Any, Any], _result: Any) -> None:
    for _ in range(_ended(*ending)):
        step_counter.step_ended(step_counter.Source.BATCH)


def _batch_failed(_ending: tuple[Any, Any], _error: BaseException) -> None:
    here.in_batch = False


def _ended(callbacks: Any, batch: Any) -> int:
    """Mark the ends of the finished steps. Returns how many."""
    began, _fit.began_ticks = _fit.began_ticks, 0
    here.in_batch = False
    if naming.name_id is None:
        return 0
    if not began:  # recording began inside it
        began, _fit.first = _core.ticks(), int(batch)
    last = int(batch)
    if last > _fit.first:
        _fit.together = max(_fit.together, last - _fit.first + 1)
        notes.note(
            f"Keras executes {_fit.together} steps in one and only reports when all are over: the "
            "time is divided evenly among them."
        )
    in_epoch = (getattr(callbacks, "params", None) or {}).get("steps")
    if isinstance(in_epoch, int) and in_epoch > _fit.first:
        last = min(last, in_epoch - 1)
    steps = max(1, last - _fit.first + 1)
    ended, name = _core.ticks(), naming.name_id(_NAME)
    for index in range(steps):
        _core.step_mark(
            who=StepMark.FRAMEWORK, samples=_samples(index), name=name,
            start=began + (ended - began) * (index + 1) // steps,
        )  # fmt: skip
    _fit.fetched = ()
    return steps


def _samples(index: int) -> int:
    """Samples in the index-th batch of this execution."""
    if index < len(_fit.fetched):
        return _fit.fetched[index]
    return _fit.sizes.of(_fit.first + index)


# --- how large the batches are --------------------------------------------------------------------


def _watch_sizes(owner: Any, name: str, sizes: Any, patches: Patches) -> None:
    """Called when an epoch begins, of training or of evaluation."""

    def begins(epoch: Any, /) -> None:
        if naming.name_id is not None:
            _fit.sizes = _known(sizes, epoch)

    patches.watch(owner, name, begins)


def _known(sizes: Any, data: Any) -> Sizes:
    """The script's own data may be of any kind."""
    try:
        found: Sizes = sizes(data)
        return found
    except Exception as error:
        let_pass(error)
        return Sizes()


def _sizes(epoch: Any) -> Sizes:
    adapter = epoch.data_adapter
    batch = _number(adapter.batch_size)
    if not batch:
        batch = _batched_by(getattr(adapter, "_dataset", None))
    if not batch:
        batch = samples_in(getattr(adapter, "_first_batches", None))
    if not batch:
        batch = _number(getattr(getattr(adapter, "py_dataset", None), "batch_size", 0))
    last = getattr(adapter, "_partial_batch_size", 0)  # of arrays
    return Sizes(batch, _number(epoch.num_batches), _number(last))


def _legacy_sizes(handler: Any) -> Sizes:
    adapter = handler._adapter
    batch = _number(adapter.batch_size()) or _number(adapter.representative_batch_size())
    batch = batch or _batched_by(getattr(adapter, "_dataset", None))
    is_partial = bool(batch and adapter.has_partial_batch())
    last = _number(adapter.partial_batch_size()) if is_partial else 0
    return Sizes(batch, _number(adapter.get_size()), last)


def _batched_by(dataset: Any) -> int:
    """The batch size of the last batching in a tf.data pipeline."""
    for _ in range(_FARTHEST):
        if dataset is None:
            return 0
        size = getattr(dataset, "_batch_size", None)
        if size is not None:
            return _number(size.numpy() if hasattr(size, "numpy") else size)
        dataset = getattr(dataset, "_input_dataset", None)
    return 0


def _number(value: Any) -> int:
    try:
        return max(0, int(value))
    except (TypeError, ValueError):
        return 0


def _watch_input(epoch: Any, patches: Patches) -> None:
    """Where Keras itself fetches a batch. With TensorFlow, that happens inside the graph."""
    patches.watch(epoch, "__next__", _fetch_begins, _fetch_ended, end_span)


def _fetch_begins(_epoch: Any, /) -> int | None:
    if naming.name_id is None:
        return None
    _fit.fetched = ()
    return _core.span_begin(naming.name_id("batches"), SpanCategory.INPUT)


def _fetch_ended(span: int, fetched: Any) -> None:
    try:
        _fit.fetched = tuple(samples_in(batch) for batch in fetched[2])
    finally:
        _core.span_end(span, sum(_fit.fetched))


def _watch_iterators(epoch: Any, patches: Patches) -> None:
    """With JAX, Keras fetches inside its train function, from an iterator that it gets here. Not
    `watched`: it gets ours instead."""
    before = epoch._get_iterator

    @functools.wraps(before)
    def _get_iterator(self: Any) -> Any:
        try:
            iterator = before(self)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        return _Waited(iterator) if naming.name_id is not None else iterator

    patches.set(epoch, "_get_iterator", _get_iterator)


class _Waited:
    """An iterator whose waits are recorded. `watched` would leave a frame of ours in exceptions."""

    def __init__(self, batches: Any) -> None:
        self._batches = iter(batches)

    def __iter__(self) -> "_Waited":
        return self

    def __next__(self) -> Any:
        span = samples = 0
        if naming.name_id is not None:
            span = _core.span_begin(naming.name_id("batches"), SpanCategory.INPUT)
        try:
            batch = next(self._batches)
            if span:
                samples = samples_in(batch)
                _fit.fetched = (*_fit.fetched, samples)
            return batch
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            if span:
                _core.span_end(span, samples)


# --- train_on_batch -------------------------------------------------------------------------------


def _watch_train_on_batch(package: Package, patches: Patches) -> None:
    trainer = package.trainer
    numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
    following = itertools.count(_FIRST_MODEL)

    def begins(model: Any, /, *args: Any, **kwargs: Any) -> tuple[int, int] | None:
        if naming.name_id is None:
            return None
        if model not in numbers:
            numbers[model] = next(following)
        about = about_compute(samples_in(args or kwargs), updates=True)
        name = naming.name_id("train_on_batch")
        span = _core.span_begin(name, SpanCategory.COMPUTE, numbers[model], about)
        here.in_one_span = bool(span)
        return (span, numbers[model]) if span else None

    def failed(begun: tuple[int, int], _error: BaseException) -> None:
        here.in_one_span = False
        _core.span_end(begun[0])

    def ended(begun: tuple[int, int], _result: Any) -> None:
        here.in_one_span = False
        _core.span_end(begun[0])
        current_work.worked()
        step_counter.optimizer_stepped(begun[1])

    patches.watch(trainer, "train_on_batch", begins, ended, failed)
