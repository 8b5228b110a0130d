"""TensorFlow run operation by operation: the tape's forward, the gradients, waits for values."""

import functools
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import current_work
from stepscope.record.frameworks.watching.current_work import here
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame
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
    enter, leave = tape.__enter__, tape.__exit__

    @functools.wraps(enter)
    def __enter__(self: Any) -> Any:
        if naming.name_id is not None and here.tape is None and current_work.is_eager():
            current_work.begins()
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


def _gradients_run_now() -> bool:
    if current_work.is_eager():
        if current_work.on_work is not None:
            current_work.on_work()
        return True
    current_work.found_in_graph(trains=True)
    return False
