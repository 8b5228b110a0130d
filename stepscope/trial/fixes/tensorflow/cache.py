"""Keep what a tf.data pipeline prepares, up to where chance comes in, for the next epochs."""

import atexit
import functools
import math
import weakref
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.free_memory import half_of_free_bytes
from stepscope.trial.fixes.tensorflow.pipelines import (
    dataset_class,
    described,
    is_stateful,
    kind,
    stages,
)

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_SAME_EVERY_TIME: Final = (
    "Batch", "Concatenate", "Enumerate", "Filter", "Map", "Options", "PaddedBatch", "ParallelBatch",
    "ParallelMap", "Prefetch", "Range", "Skip", "Take", "Tensor", "TensorSlice", "Unbatch", "Zip",
    "FixedLengthRecord", "TextLine", "TFRecord", "Window", "FlatMap", "Interleave",
    "ParallelInterleave",
)  # fmt: skip
_WORK: Final = ("Map", "ParallelMap", "FlatMap", "Interleave", "ParallelInterleave")
_MORE: Final = 2  # times the first element: others may be larger


class TfCache:
    """Before the first shuffle, repeat or random change; at the end if there is none."""

    name: Final = "tf-cache"
    title: Final = "keep prepared elements for the next epochs"
    stage: Stage = "data"
    keeps: Keeps = "bits"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.pipeline_calls import makes_pipelines

        sources = subject.case.code.sources
        if not makes_pipelines(sources):
            return None
        return Proposal(
            settings={},
            words="cache() before what is random",
            patch="dataset = dataset.cache()  # before shuffle, repeat and random changes\n",
        )

    def install(self, script: Script, settings: Settings) -> None:
        script.when_loaded("tensorflow", lambda tensorflow: _install(script, tensorflow))


FIX: Final = TfCache()


def _install(script: Script, tensorflow: Any) -> None:
    owner, caches = dataset_class(), _Caches(script, half_of_free_bytes())
    for name in ("shuffle", "repeat", "map", "__iter__"):
        _before(owner, name, caches, script, tensorflow)
    atexit.register(caches.say_why_none)


def _before(owner: Any, name: str, caches: "_Caches", script: Script, tensorflow: Any) -> None:
    """`dataset.name(…)` on the dataset with its cache. A map is only in the way if it is random."""
    before = vars(owner)[name]

    @functools.wraps(before)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if caches.is_asking or not tensorflow.executing_eagerly():
            return before(self, *args, **kwargs)
        if name != "map":
            return before(caches.behind(self, name), *args, **kwargs)
        mapped = before(self, *args, **kwargs)
        if not is_stateful(mapped):
            return mapped
        cached = caches.behind(self, f"map({described(mapped)})")
        return mapped if cached is self else before(cached, *args, **kwargs)

    script.patches.set(owner, name, run)


class _Caches:
    """By the dataset that they stand behind: one that is iterated over again must have the same."""

    def __init__(self, script: Script, most_bytes: int) -> None:
        self._script, self._most_bytes = script, most_bytes
        self._cached: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._why_not: str | None = None  # of the first one that cannot be kept
        self._has_any = False
        self.is_asking = False  # we look at a pipeline ourselves

    def behind(self, dataset: Any, ahead_of: str) -> Any:
        """The dataset with a cache, or as it is."""
        if dataset not in self._cached:
            self._cached[dataset] = self._decided(dataset, ahead_of)
        return self._cached[dataset] or dataset

    def say_why_none(self) -> None:
        if self._why_not is not None and not self._has_any:
            self._script.refuse(self._why_not)

    def _decided(self, dataset: Any, ahead_of: str) -> Any | None:
        kinds = {kind(each) for each in stages(dataset)}
        if "Cache" in kinds or not kinds & set(_WORK):
            return None  # nothing is left to save
        reason = _what_differs(dataset) or self._too_large(dataset)
        if reason is not None:
            self._why_not = self._why_not or reason
            return None
        self._has_any = True
        end = "the end" if ahead_of == "__iter__" else ahead_of
        self._script.applied(f"cache() before {end}")
        return dataset.cache()

    def _too_large(self, dataset: Any) -> str | None:
        self.is_asking = True
        try:
            count = int(dataset.cardinality())
            if count < 0:
                return "How many elements the pipeline has is not known: memory may not suffice."
            elements = list(dataset.take(1))
        finally:
            self.is_asking = False
        size_bytes = _MORE * count * sum(map(_bytes_of, elements))
        if size_bytes <= self._most_bytes:
            return None
        return (
            f"The {count} elements may take {size_bytes / 1e9:.1f} GB, which is more than half of "
            "what is free."
        )


def _what_differs(dataset: Any) -> str | None:
    """What of it is not the same in every epoch."""
    for each in stages(dataset):
        if is_stateful(each):
            return f"{described(each)} is random or has a state, and nothing before it takes long."
        if kind(each) not in _SAME_EVERY_TIME:
            return f"{kind(each)} comes before the work, and what follows it cannot be kept."
    return None


def _bytes_of(element: Any) -> int:
    if isinstance(element, tuple | list):
        return sum(map(_bytes_of, element))
    if isinstance(element, dict):
        return sum(map(_bytes_of, element.values()))
    array = element.numpy() if hasattr(element, "numpy") else element
    if isinstance(array, bytes):
        return len(array)
    return int(math.prod(array.shape)) * int(array.dtype.itemsize)
