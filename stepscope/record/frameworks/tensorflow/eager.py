"""TensorFlow run operation by operation: the tape's forward, the gradients, waits for values."""

from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import current_work
from stepscope.record.frameworks.watching.current_work import here
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_GRADIENTS: Final = ("gradient", "jacobian", "batch_jacobian")
# What makes the host wait for a tensor's value, as the script writes it.
_WAITS: Final = {
    "numpy": ".numpy()",
    "__array__": "array of a tensor",
    "__float__": "float of a tensor",
    "__int__": "int of a tensor",
    "__index__": "int of a tensor",
    "__bool__": "bool of a tensor",
}
_SPAN: Final = "_stepscope_span"  # on a tape: the span that ends with it


def install(tensorflow_python: Any, patches: Patches) -> None:
    """`tensorflow_python`: returns a module by its name below tensorflow.python."""
    current_work.is_eager = tensorflow_python("eager.context").executing_eagerly
    tape = tensorflow_python("eager.backprop").GradientTape
    _watch_tapes(tape, patches)
    for name in _GRADIENTS:
        patches.phase(tape, name, SpanCategory.BACKWARD, name, _gradients_run_now)
    tensor = tensorflow_python("framework.ops")._EagerTensorBase
    for name, label in _WAITS.items():
        patches.phase(tensor, name, SpanCategory.SYNC, label, current_work.is_eager)


def _watch_tapes(tape: Any, patches: Patches) -> None:
    """Forward is from the outermost tape's beginning to its end, the loss included."""
    patches.watch(tape, "__enter__", _tape_begins)
    patches.watch(tape, "__exit__", lambda tape, *_error: tape, _tape_ended)


def _tape_begins(tape: Any) -> None:
    if naming.name_id is not None and here.tape is None and current_work.is_eager():
        current_work.begins()
        here.tape, here.samples = tape, 0
        span = _core.span_begin(naming.name_id("GradientTape"), SpanCategory.FORWARD)
        setattr(tape, _SPAN, span)


def _tape_ended(tape: Any, _result: Any) -> None:
    span = vars(tape).pop(_SPAN, 0)
    if span:
        _core.span_end(span, here.samples)
    if here.tape is tape:
        here.tape = None


def _gradients_run_now() -> bool:
    if current_work.is_eager():
        if current_work.on_work is not None:
            current_work.on_work()
        return True
    current_work.found_in_graph(trains=True)
    return False
