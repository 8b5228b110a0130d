"""Train on the first few batches again and again, to see what input for free would give."""

import functools
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from stepscope.signal_handlers import let_pass
from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.data_loaders import MODULE, Arguments, change_arguments
from stepscope.trial.fixes.inside.user_functions import Place, when_defined

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_KEPT: Final = 4  # batches: fewer than steps are left out as warm-up
_TF_DATASET: Final = "tensorflow.python.data.ops.dataset_ops"
_TF_ITERATOR: Final = "tensorflow.python.data.ops.iterator_ops"
_INFINITE: Final = -1  # as tf.data says it
_IN_PROCESS: Final[Arguments] = {
    "num_workers": 0,
    "persistent_workers": False,
    "prefetch_factor": None,
    "multiprocessing_context": None,
    "timeout": 0,
}


class FreeInput:
    name: Final = "free-input"
    title: Final = "input for free"
    stage: Stage = "data"
    keeps: Keeps = "training"
    is_ceiling: Final = True

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.named_function import finding_of
        from stepscope.trial.fixes.proposing.yielded import generator_of

        finding = finding_of(subject, "input-bound")
        if finding is None:
            return None
        words = f"the first {_KEPT} batches, again and again"
        if subject.case.phase_ns("input") > 0 or not finding.location:
            return Proposal(settings={}, words=words, patch=None)
        generator = generator_of(subject.case, finding.location)
        if isinstance(generator, Refusal):
            return generator
        function, items = generator
        return Proposal({"function": function.place, "items": items}, words, patch=None)

    def install(self, script: Script, settings: Settings) -> None:
        if "function" in settings:
            items: int = settings["items"]

            def wrap(function: FunctionType) -> Callable[..., Any]:
                return _replaying(function, items, script)

            when_defined(Place.of(settings["function"]), wrap, script.patches)
            return
        script.when_loaded(MODULE, functools.partial(_replay_loaders, script))
        script.when_loaded(_TF_DATASET, functools.partial(_count_tf, script))
        script.when_loaded(_TF_ITERATOR, functools.partial(_replay_tf, script))


FIX: Final = FreeInput()


def _say(script: Script) -> None:
    script.applied(f"the first {_KEPT} batches, again and again")


# --- a generator of the user's --------------------------------------------------------------------


def _replaying(function: FunctionType, items: int, script: Script) -> Callable[..., Any]:
    """`items`: how many it yields at a time, as the recorded run shows."""
    kept: list[Any] = []

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Iterator[Any]:
        done = 0
        if len(kept) < _KEPT:
            for item in function(*args, **kwargs):
                kept.append(item)
                yield item
                done += 1
                if len(kept) >= _KEPT:
                    break
            else:
                return
        _say(script)
        for number in range(done, items):
            yield kept[number % _KEPT]

    return run


# --- torch ----------------------------------------------------------------------------------------


def _replay_loaders(script: Script, module: ModuleType) -> None:
    """Workers would load beside the step all the same, so there are none."""
    change_arguments(module, script.patches, lambda _: _IN_PROCESS)
    iterator = module._SingleProcessDataLoaderIter
    load = iterator._next_data
    loaders: dict[int, _Replayed] = {}  # by the sampler, which is the loader's own

    @functools.wraps(load)
    def _next_data(self: Any) -> Any:
        sampler = self._index_sampler
        replayed = loaders.setdefault(id(sampler), _Replayed(sampler))
        return replayed.next(self, load, script)

    script.patches.set(iterator, "_next_data", _next_data)


class _Replayed:
    """One loader's batches. Only a sampler knows when its epoch ends: it goes on drawing. An
    iterable data set has none, so its first epoch is read to the end."""

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler  # alive, so that its id stays its own
        self._kept: list[Any] = []
        self._length: int | None = None

    def next(self, iterator: Any, load: Callable[[Any], Any], script: Script) -> Any:
        number: int = iterator._num_yielded
        is_iterable = type(self._sampler).__name__ == "_InfiniteConstantSampler" or (
            iterator._dataset_kind == 1
        )
        if len(self._kept) < _KEPT or (is_iterable and self._length is None):
            return self._load(iterator, load, number)
        if is_iterable and number >= (self._length or 0):
            raise StopIteration
        if not is_iterable:
            iterator._next_index()  # raises StopIteration at the end of the epoch
        _say(script)
        return self._kept[number % _KEPT]

    def _load(self, iterator: Any, load: Callable[[Any], Any], number: int) -> Any:
        try:
            batch = load(iterator)
        except StopIteration:
            self._length = number
            raise
        if len(self._kept) < _KEPT:
            self._kept.append(batch)
        return batch


# --- tf.data, where the script itself iterates ----------------------------------------------------


def _count_tf(script: Script, module: ModuleType) -> None:
    """An iterator does not know how many batches it has; its data set may."""
    iterate = module.DatasetV2.__iter__

    @functools.wraps(iterate)
    def __iter__(self: Any) -> Any:
        iterator = iterate(self)
        try:
            iterator._stepscope_batches = int(self.cardinality())
        except Exception as error:  # in a graph nobody knows: then it is read as always
            let_pass(error)
            return iterator
        return iterator

    script.patches.set(module.DatasetV2, "__iter__", __iter__)


def _replay_tf(script: Script, module: ModuleType) -> None:
    following = module.OwnedIterator.__next__

    @functools.wraps(following)
    def __next__(self: Any) -> Any:
        batches = getattr(self, "_stepscope_batches", -2)
        if batches < _INFINITE:
            return following(self)
        state = vars(self).setdefault("_stepscope_kept", [])
        number = self._stepscope_number = getattr(self, "_stepscope_number", -1) + 1
        if len(state) < _KEPT:
            state.append(following(self))
            return state[-1]
        if batches != _INFINITE and number >= batches:
            raise StopIteration
        _say(script)
        return state[number % _KEPT]

    script.patches.set(module.OwnedIterator, "__next__", __next__)
