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
from stepscope.record.frameworks.watching.current_work import here
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.names import naming
from stepscope.signal_handlers import let_pass

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
    patches.follow(horovod, "init", lambda *_args, **_kwargs: _report_rank(horovod))
    if getattr(horovod, "is_initialized", lambda: False)():  # recording began later
        _report_rank(horovod)


def _report_rank(horovod: Any) -> None:
    try:
        if horovod.size() > 1:
            rank = int(horovod.rank())
            running_recording.when_running(lambda recording: recording.set_rank(rank))
    except Exception as error:
        let_pass(error)
        notes.note(f"The rank of this process is not known: {error!r}")
