"""TensorFlow: the loss of each step, with --losses.

Of what runs eagerly, it is what a tape takes the gradient of. In a graph that has no value: there
it is what the function that trains returns. Tensors do not change, so they are read later.
"""

import functools
import sys
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.tensorflow import graph_functions
from stepscope.record.frameworks.tensorflow.graph_functions import Call
from stepscope.record.frameworks.watching import current_work, losses, notes
from stepscope.record.frameworks.watching.current_work import here
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame
from stepscope.record.names import naming

_LABEL: Final = "gradient"
_guarded: Final = notes.guard("A loss was not recorded")


def install(_tensorflow: Any, patches: Patches) -> None:
    losses.when_wanted(lambda: _watch(patches))


def _watch(patches: Patches) -> None:
    losses.read_with(sys.modules["tensorflow.python.framework.ops"]._EagerTensorBase, _read)
    _watch_gradient(sys.modules["tensorflow.python.eager.backprop"].GradientTape, patches)
    graph_functions.on_result = _returned
    patches.on_undo(_forget)


def _forget() -> None:
    graph_functions.on_result = None


def _read(tensor: Any) -> float:
    """Not through the tensor's own methods: those are watched."""
    return float(tensor._numpy().astype("float64").sum())


def _watch_gradient(tape: Any, patches: Patches) -> None:
    before = tape.gradient

    @functools.wraps(before)
    def gradient(self: Any, *args: Any, **kwargs: Any) -> Any:
        if naming.name_id is not None and current_work.is_eager() and _is_loss(self):
            _guarded(_keep, args[0] if args else kwargs.get("target"))
        try:
            return before(self, *args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise

    patches.set(tape, "gradient", gradient)


def _is_loss(tape: Any) -> bool:
    """Under another tape, gradients are a part of the loss."""
    return not losses.here.is_reported and (here.tape is None or here.tape is tape)


def _keep(target: Any) -> None:
    at_ticks = _core.ticks()
    for part in target if isinstance(target, tuple | list) else (target,):
        losses.keep(_LABEL, at_ticks, part)


def _returned(call: Call, result: Any) -> None:
    """Before its span ends, with which a step may end."""
    if call.span and call.made.parts.trains and not losses.here.is_reported:
        at_ticks = _core.ticks()
        for value in losses.found_in(result):
            losses.keep(call.made.name, at_ticks, value)
