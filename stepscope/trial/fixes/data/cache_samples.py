"""Keep the samples that a data set has made, and hand them out again in later epochs."""

import atexit
import functools
import operator
import os
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage
from stepscope.trial.fixes.inside.contents import Content, content_of
from stepscope.trial.fixes.inside.data_loaders import MODULE
from stepscope.trial.fixes.inside.free_memory import half_of_free_bytes
from stepscope.trial.fixes.inside.random_streams import Streams

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject


class CacheSamples:
    name: Final = "cache-samples"
    title: Final = "make each sample once"
    stage: Stage = "data"
    keeps: Keeps = "bits"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.advise.evidence.patch import decorated
        from stepscope.advise.evidence.random_calls import in_datasets, samples_of
        from stepscope.trial.fixes.proposing.loader_calls import epochs_begun

        sources = subject.case.code.sources
        made = samples_of(sources)
        if "torch" not in subject.frameworks or made is None:
            return None
        drawn = in_datasets(sources)
        if drawn is not None:
            return Refusal(f"The samples are random ({drawn}): each epoch gets others.")
        if epochs_begun(subject.case) == 1:
            return Refusal(
                "all measured steps are of one epoch, in which no sample comes twice: --steps N "
                "with more of them shows what it gains"
            )
        file, text, function = made
        return Proposal(
            settings={},
            words=f"{file}:{function.lineno} makes each sample once",
            patch=decorated(file, text, function.lineno, "functools.cache", "import functools"),
        )

    def install(self, script: Script, settings: Settings) -> None:
        script.when_loaded(MODULE, functools.partial(_watch_starts, script))


FIX: Final = CacheSamples()


def _watch_starts(script: Script, module: ModuleType) -> None:
    iterate = module.DataLoader.__iter__
    samples = Samples(script)

    @functools.wraps(iterate)
    def __iter__(self: Any) -> Any:
        samples.keep_from_now_on(self)
        return iterate(self)

    script.patches.set(module.DataLoader, "__iter__", __iter__)


class Samples:
    """By data set: what its `__getitem__` returned for each index."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._kinds: set[type] = set()
        self._kept: dict[int, tuple[Any, dict[int, Any]]] = {}  # by id, with what must stay alive
        self._checked: list[tuple[str, Any, Content]] = []
        atexit.register(self._check)

    def keep_from_now_on(self, loader: Any) -> None:
        for dataset in _users_own(loader.dataset):
            if id(dataset) in self._kept:
                continue
            reason = self._why_not(loader, dataset)
            if reason is not None:
                self._script.refuse(reason)
                continue
            self._kept[id(dataset)] = dataset, {}
            if type(dataset) not in self._kinds:
                self._kinds.add(type(dataset))
                self._patch(type(dataset))

    def _why_not(self, loader: Any, dataset: Any) -> str | None:
        place = _place(type(dataset))
        if not hasattr(dataset, "__len__") or hasattr(dataset, "__getitems__"):
            return f"{place} does not hand out its samples one by one, by number."
        if loader.num_workers and not loader.persistent_workers:
            return f"The workers that make the samples of {place} end with every epoch."
        before = Streams()
        try:
            size_bytes, reason = self._sizes(dataset, place)
            moved = Streams().moved_since(before)
        finally:
            before.restore()
        if moved:
            return f"{place} draws random numbers of {' and '.join(moved)}."
        needed = size_bytes * len(dataset) * max(1, loader.num_workers)
        if reason is None and needed > half_of_free_bytes():
            reason = f"The samples of {place} need {needed / 1e9:.1f} GB: more than there is."
        return reason

    def _sizes(self, dataset: Any, place: str) -> tuple[int, str | None]:
        """The largest of a few samples, each read twice."""
        largest = 0
        for index in sorted({0, len(dataset) // 2, len(dataset) - 1} - {-1}):
            sample = dataset[index]
            content = content_of(sample)
            if content is None:
                return 0, f"What {place} returns cannot be compared."
            if content_of(dataset[index]) != content:
                return 0, f"{place} returns something else when it is asked again."
            largest = max(largest, content.size_bytes)
        return largest, None

    def _patch(self, kind: type) -> None:
        make: Callable[..., Any] = getattr(kind, "__getitem__")  # noqa: B009  # for mypy, `kind[…]` would be a type

        @functools.wraps(make)
        def __getitem__(dataset: Any, index: Any) -> Any:
            _, kept = self._kept.get(id(dataset), (None, None))
            try:
                number = operator.index(index)
            except TypeError:
                kept = None
            if kept is None:
                return make(dataset, index)
            if number in kept:
                self._script.applied(f"samples of {kind.__name__} kept")
                return kept[number]
            sample = kept[number] = make(dataset, index)
            self._remember(_place(kind), sample)
            return sample

        self._script.patches.set(kind, "__getitem__", __getitem__)

    def _remember(self, place: str, sample: Any) -> None:
        content = content_of(sample) if len(self._checked) < 8 else None
        if content is not None:
            self._checked.append((place, sample, content))

    def _check(self) -> None:
        for place, sample, content in self._checked:
            if content_of(sample) != content:
                self._script.refuse(f"The script writes into the samples that {place} returns.")


def _users_own(dataset: Any) -> Iterator[Any]:
    """The data sets behind torch's own: Subset, ConcatDataset."""
    if type(dataset).__module__.startswith("torch."):
        inner = [getattr(dataset, "dataset", None), *getattr(dataset, "datasets", ())]
        for each in inner:
            if each is not None:
                yield from _users_own(each)
    elif hasattr(type(dataset), "__getitem__") and type(dataset).__module__ != "builtins":
        yield dataset


def _place(kind: type) -> str:
    code = getattr(getattr(kind, "__getitem__", None), "__code__", None)
    at = f" ({os.path.basename(code.co_filename)}:{code.co_firstlineno})" if code else ""
    return f"{kind.__qualname__}.__getitem__{at}"
