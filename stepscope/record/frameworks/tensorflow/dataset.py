"""TensorFlow: waiting for the next batch of a dataset, as the phase `input`.

Inside a graph (Keras' `fit`, a function that is given the iterator) the wait is an operation like
any other, and only the operators show it.
"""

from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import current_work
from stepscope.record.frameworks.watching.current_work import here
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.training_batches import end_input
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_BATCH: Final = "dataset"
_START: Final = "dataset.__iter__"  # analysis knows by this suffix that there is no batch


def install(python: Any, patches: Patches) -> None:
    # A pipeline is set up when it is iterated over.
    dataset, is_eager = python("data.ops.dataset_ops").DatasetV2, current_work.is_eager
    patches.phase(dataset, "__iter__", SpanCategory.INPUT, _START, is_eager)
    for name in ("__next__", "get_next"):
        _watch(python("data.ops.iterator_ops").OwnedIterator, name, patches)
        _watch(python("distribute.input_lib").DistributedIteratorBase, name, patches)


def _watch(iterator: Any, name: str, patches: Patches) -> None:
    """A nested call, or an iterator that feeds another one, is part of the outer wait."""
    if hasattr(iterator, name):
        patches.watch(iterator, name, _begins, _ended)


def _begins(*_args: Any, **_kwargs: Any) -> int | None:
    if naming.name_id is None or here.in_input or not current_work.is_eager():
        return None
    here.in_input = True
    return _core.span_begin(naming.name_id(_BATCH), SpanCategory.INPUT)


def _ended(span: int, batch: Any) -> None:
    here.in_input = False
    end_input(span, batch)
