"""TensorFlow run operation by operation: the tape's forward, the gradients, waits for values.

Hooks here are also called while a function is traced into a graph. Nothing is computed then: they
only remember that the function has such a part.
"""

import functools
import threading
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import notes
from stepscope.record.frameworks.watching import patches as patching
from stepscope.record.frameworks.watching.patches import Patches, leave_out_this_frame
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_GRADIENTS: Final = ("gradient", "jacobian", "batch_jacobian")
# What makes the host wait for a tensor's value, in the script's words.
_WAITS: Final = {
    "numpy": ".numpy()",
    "__array__": "array of a tensor",
    "__float__": "float of a tensor",
    "__int__": "int of a tensor",
    "__index__": "int of a tensor",
    "__bool__": "bool of a tensor",
}
_SPAN: Final = "_stepscope_span"  # on a tape: the span that ends with it


class Parts:
    """What a traced function does."""

    __slots__ = ("calls_model", "trains")

    def __init__(self) -> None:
        self.trains = False  # it computes gradients or applies them
        self.calls_model = False

    def add(self, other: "Parts") -> None:
        self.trains |= other.trains
        self.calls_model |= other.calls_model


class Here(threading.local):
    """What is going on on this thread."""

    tape: Any = None  # the outermost one that is open
    samples = 0  # in the first batch that a model was given under it
    in_model = False
    in_optimizer = False
    has_fitted = False  # a batch of Keras was trained on
    in_batch = False  # of a framework that tells its steps itself
    is_told = False  # what runs is told of as a whole
    in_collective = False
    in_input = False
    call: Any = None  # the function that was called, outside of all graphs
    tracing: Parts | None = None  # the innermost function that is being traced


here: Final = Here()
# The innermost one of all threads: a strategy runs its replicas on others, and waits for them.
latest_tracing: Parts | None = None


def found_in_graph(*, trains: bool = False, calls_model: bool = False) -> None:
    """What is being traced has such a part."""
    parts = here.tracing or latest_tracing
    if parts is not None:
        parts.trains |= trains
        parts.calls_model |= calls_model


def _always() -> bool:
    return True


# Whether operations run at once instead of being put into a graph. Set when TensorFlow is there.
is_eager: Callable[[], bool] = _always
# Called when something was trained; for whoever waits for that. None: nobody does.
on_work: Callable[[], None] | None = None
# Called when something of TensorFlow's is about to be computed.
on_begin: Callable[[], None] | None = None
# Called when a function is traced.
on_trace: Callable[[], None] | None = None


def begins() -> None:
    if on_begin is not None:
        on_begin()


def worked() -> None:
    if on_work is not None:
        on_work()


def install(tensorflow_python: Any, patches: Patches) -> None:
    """`tensorflow_python`: a function from a module's name below tensorflow.python to it."""
    global is_eager
    is_eager = tensorflow_python("eager.context").executing_eagerly
    tape = tensorflow_python("eager.backprop").GradientTape
    _watch_tapes(tape, patches)
    for name in _GRADIENTS:
        _watch_gradients(tape, name, patches)
    tensor = tensorflow_python("framework.ops")._EagerTensorBase
    for name, label in _WAITS.items():
        if name in vars(tensor):
            patches.set(tensor, name, timed(vars(tensor)[name], SpanCategory.SYNC, label))


def timed(function: Callable[..., Any], category: SpanCategory, label: str) -> Callable[..., Any]:
    """`function`, with its time recorded where it runs at once."""
    return patching.timed(function, category, label, only_if=is_eager)


def phase(patches: Patches, owner: Any, name: str, category: SpanCategory, label: str) -> None:
    """As Patches.phase, where operations run at once."""
    function = vars(owner).get(name)
    if callable(function):
        patches.set(owner, name, timed(function, category, label))


def guarded(action: Callable[..., Any], *args: Any) -> Any:
    """What fails here is told in the run: it never reaches the training."""
    try:
        return action(*args)
    except Exception as error:
        notes.note(f"TensorFlow is not watched as it should be: {error!r}.")
        return None


def _watch_tapes(tape: Any, patches: Patches) -> None:
    """From the outermost tape's beginning to its end it is forward, the loss included."""
    enter, leave = tape.__enter__, tape.__exit__

    @functools.wraps(enter)
    def __enter__(self: Any) -> Any:
        if naming.name_id is not None and here.tape is None and is_eager():
            begins()
            here.tape, here.samples = self, 0
            span = _core.span_begin(naming.name_id("GradientTape"), SpanCategory.FORWARD)
            setattr(self, _SPAN, span)
        try:
            return enter(self)
        except BaseException as error:
            leave_out_this_frame(error)
            raise

    @functools.wraps(leave)
    def __exit__(self: Any, *error: Any) -> Any:
        try:
            return leave(self, *error)
        except BaseException as raised:
            leave_out_this_frame(raised)
            raise
        finally:
            span = vars(self).pop(_SPAN, 0)
            if span:
                _core.span_end(span, here.samples)
            if here.tape is self:
                here.tape = None

    patches.set(tape, "__enter__", __enter__)
    patches.set(tape, "__exit__", __exit__)


def _watch_gradients(tape: Any, name: str, patches: Patches) -> None:
    function = vars(tape).get(name)
    if function is None:
        return

    @functools.wraps(function)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        span = 0
        if not is_eager():
            found_in_graph(trains=True)
        elif naming.name_id is not None:
            worked()
            span = _core.span_begin(naming.name_id(name), SpanCategory.BACKWARD)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            if span:
                _core.span_end(span)

    patches.set(tape, name, gradient)
