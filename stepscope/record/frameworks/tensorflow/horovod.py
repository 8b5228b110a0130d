"""Horovod with TensorFlow: its collectives outside graphs, and which rank this process is.

The reduction of a DistributedGradientTape is a function that Horovod made with tf.function: it is
recorded as communication where those are watched (graph_functions). Reductions in the script's own
graphs show only in the operators.
"""

import functools
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.tensorflow.graph_functions import begin_collective
from stepscope.record.frameworks.watching import current_work, running_recording
from stepscope.record.frameworks.watching.current_work import here
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.names import naming

_COLLECTIVES: Final = (
    "allgather", "allgather_object", "allreduce", "alltoall", "barrier", "broadcast",
    "broadcast_global_variables", "broadcast_object", "broadcast_variables", "grouped_allgather",
    "grouped_allreduce", "grouped_reducescatter", "join", "reducescatter",
)  # fmt: skip


def install(horovod: Any, patches: Patches) -> None:
    """`horovod`: horovod.tensorflow."""
    for name in _COLLECTIVES:
        if callable(vars(horovod).get(name)):
            patches.watch(horovod, name, functools.partial(_begins, name), _ended)
    _watch_start(horovod, patches)


def _begins(collective: str, /, *_args: Any, **_kwargs: Any) -> int | None:
    if naming.name_id is None or here.in_collective or not current_work.is_eager():
        return None
    here.in_collective = True
    return begin_collective(collective)


def _ended(span: int, _result: Any) -> None:
    _core.span_end(span)
    here.in_collective = False


def _watch_start(horovod: Any, patches: Patches) -> None:
    def report(*_args: Any, **_kwargs: Any) -> None:
        running_recording.report_rank(horovod.size, horovod.rank)

    patches.follow(horovod, "init", report)
    if getattr(horovod, "is_initialized", lambda: False)():  # recording began later
        report()
