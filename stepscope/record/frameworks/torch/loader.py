"""PyTorch: starting a DataLoader and waiting for its batches, as the phase `input`."""

import collections
import itertools
import threading
import weakref
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.torch import loader_stages as stages
from stepscope.record.frameworks.watching import compiled_graphs
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import do_nothing
from stepscope.record.frameworks.watching.training_batches import known_size, samples_in
from stepscope.record.names import naming
from stepscope.signal_handlers import let_pass
from stepscope.store.format import SpanCategory, about_loader

_BATCH: Final = "DataLoader"
_START: Final = "DataLoader.__iter__"  # part of the format: analysis knows it by this name
_ABOUT: Final = "_stepscope_about"  # on an iterator: its loader
_SIZES: Final = "_stepscope_sizes"  # on an iterator: of the batches that are on their way
_Sizes = collections.deque[int]


def install(module: Any, patches: Patches) -> None:
    """`module`: torch.utils.data.dataloader, or another with such iterators."""
    loaders = _Loaders()
    for kind in list(vars(module).values()):
        if not isinstance(kind, type) or kind.__module__ != module.__name__:
            continue
        if "_next_data" in vars(kind):
            _watch_batches(kind, loaders, patches)
        if "_next_index" in vars(kind):
            patches.watch(kind, "_next_index", _this_iterator, _size_is_known, failed=do_nothing)
        if "_reset" in vars(kind):
            patches.watch(kind, "_reset", _forget_sizes)
        if "__iter__" in vars(kind) and hasattr(kind, "_get_iterator"):
            _watch_starts(kind, loaders, patches)
    if hasattr(module, "_utils"):
        stages.install(module._utils, patches)


class _Loaders:
    """Numbers the loaders by their first use: analysis tells training from validation by these."""

    def __init__(self) -> None:
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._next = itertools.count(1)

    @compiled_graphs.are_not_for
    def about(self, loader: Any, workers: object) -> int:
        """What its INPUT spans say about the loader: its number, and how many workers it has."""
        try:
            number = self._numbers.get(loader)
            if number is None:
                number = self._numbers[loader] = next(self._next)
        except TypeError:  # the script's own loader may not be hashable
            number = next(self._next)
        return about_loader(number, workers if isinstance(workers, int) else 0)


def _watch_batches(iterator: Any, loaders: _Loaders, patches: Patches) -> None:
    """`_next_data` does all the work of `__next__`, whose own frame must stay next to the script's:
    torch's warnings there name the frame above it. A loader that feeds another one is part of its
    wait: only the outer one's samples count."""
    inside = threading.local()

    def begins(batches: Any, /) -> tuple[int, bool, _Sizes] | None:
        if naming.name_id is None:
            return None
        about = getattr(batches, _ABOUT, None)
        if about is None:  # it began before us
            about = loaders.about(batches, getattr(batches, "_num_workers", 0))
        is_inner = hasattr(inside, "a_loader")
        span = _core.range_span(naming.name_id(_BATCH), SpanCategory.INPUT, 0, about)
        inside.a_loader = True
        return span, is_inner, _sizes_of(batches)

    def ended(begun: tuple[int, bool, _Sizes], batch: Any) -> None:
        span, is_inner, sizes = begun
        size = sizes.popleft() if sizes else 0
        _core.span_end(span, 0 if is_inner else _samples(batch, size))
        if not is_inner:
            del inside.a_loader

    def failed(begun: tuple[int, bool, _Sizes], error: BaseException) -> None:
        ended(begun, None)
        stages.note_death(error)

    patches.watch(iterator, "_next_data", begins, ended, failed)


# --- how large the batches are --------------------------------------------------------------------


def _this_iterator(batches: Any, /) -> Any:
    return batches if naming.name_id is not None else None


def _size_is_known(batches: Any, index: Any) -> None:
    """The sampler has chosen the samples of a batch: batches come in the same order. 0: one item
    that the dataset may have batched itself, or as many as an iterable dataset still has."""
    is_chosen = isinstance(index, list | tuple) and bool(index) and index[0] is not None
    _sizes_of(batches).append(len(index) if is_chosen else 0)


@compiled_graphs.are_not_for
def _sizes_of(batches: Any) -> _Sizes:
    try:
        sizes: _Sizes = batches.__dict__.setdefault(_SIZES, collections.deque())
        return sizes
    except AttributeError:  # the script's own iterator may have no room for it
        return collections.deque()


def _forget_sizes(batches: Any, /, *_args: Any, **_kwargs: Any) -> None:
    _sizes_of(batches).clear()


def _samples(batch: Any, size: int) -> int:
    """As many as the sampler chose: a function that collates may put the sequence first."""
    found = samples_in(batch)
    if not size or batch is None:
        return found
    known_size(found, size)
    return size


def _watch_starts(loader: Any, loaders: _Loaders, patches: Patches) -> None:
    def begins(started: Any, /) -> tuple[int, int, int] | None:
        if naming.name_id is None:
            return None
        workers = getattr(started, "num_workers", 0)
        about = loaders.about(started, workers)
        span = _core.span_begin(naming.name_id(_START), SpanCategory.INPUT, 0, about)
        starting = stages.begin("start workers", workers) if _starts_workers(started) else 0
        return span, starting, about

    def ended(begun: tuple[int, int, int], iterator: Any) -> None:
        span, starting, about = begun
        if iterator is not None:
            _watch_iterator(iterator, about, started=bool(starting))
        _core.span_end(starting)
        _core.span_end(span)

    patches.watch(loader, "__iter__", begins, ended)


@compiled_graphs.are_not_for
def _starts_workers(loader: Any) -> bool:
    """Persistent ones are started once."""
    if not getattr(loader, "num_workers", 0):
        return False
    return not loader.persistent_workers or getattr(loader, "_iterator", None) is None


@compiled_graphs.are_not_for
def _watch_iterator(iterator: Any, about: int, *, started: bool) -> None:
    try:
        setattr(iterator, _ABOUT, about)
        if started:
            stages.name_workers(iterator._workers, about)
            stages.watch_receiving(iterator._worker_result_queue)
    except Exception as error:  # the training continues with what is watched
        let_pass(error)
        stages.note(f"A loader's workers are not watched completely: {error!r}.")
