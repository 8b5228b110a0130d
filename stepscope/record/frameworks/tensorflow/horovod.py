"""Horovod with TensorFlow: its collectives outside graphs, and which rank this process is.

The reduction of a DistributedGradientTape is a function that Horovod made with tf.function: it is
recorded as communication where those are watched (graph_functions). Reductions in the script's own
graphs show only in the operators.
"""

import functools
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.tensorflow.graph_functions import begin_collective
from stepscope.record.frameworks.watching import current_work, notes, running_recording
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame
from stepscope.record.names import naming

_COLLECTIVES: Final = (
    "allgather", "allgather_object", "allreduce", "alltoall", "barrier", "broadcast",
    "broadcast_global_variables", "broadcast_object", "broadcast_variables", "grouped_allgather",
    "grouped_allreduce", "grouped_reducescatter", "join", "reducescatter",
)  # fmt: skip


def install(horovod: Any, patches: Patches) -> None:
    """`horovod`: horovod.tensorflow."""
    for name in _COLLECTIVES:
        function = vars(horovod).get(name)
        if callable(function):
            patches.set(horovod, name, _watched(function, name))
    _watch_start(horovod, patches)


def _watched(function: Any, name: str) -> Any:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        span = 0
        is_outermost = not current_work.here.in_collective
        if naming.name_id is not None and is_outermost and current_work.is_eager():
            span = begin_collective(name)
            current_work.here.in_collective = True
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            if span:
                _core.span_end(span)
                current_work.here.in_collective = False

    return run


def _watch_start(horovod: Any, patches: Patches) -> None:
    begin = horovod.init

    @functools.wraps(begin)
    def init(*args: Any, **kwargs: Any) -> Any:
        try:
            result = begin(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        _tell_rank(horovod)
        return result

    patches.set(horovod, "init", init)
    if getattr(horovod, "is_initialized", lambda: False)():  # recording began later
        _tell_rank(horovod)


def _tell_rank(horovod: Any) -> None:
    try:
        if horovod.size() > 1:
            rank = int(horovod.rank())
            running_recording.when_running(lambda recording: recording.set_rank(rank))
    except Exception as error:
        notes.note(f"The rank of this process is not known: {error!r}")
