"""PyTorch: collectives, the waits for them, and which rank this process is.

We watch the methods of ProcessGroup, below the functions of torch.distributed: Dynamo knows those
functions by identity, so they stay as they are.
"""

import contextlib
import weakref
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.torch import ddp
from stepscope.record.frameworks.watching import compiled_graphs, running_recording
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import followed, timed
from stepscope.record.names import naming
from stepscope.signal_handlers import let_pass
from stepscope.store.format import SpanCategory

# ProcessGroup's methods, and their usual names. If a version lacks one, it is left out.
_COLLECTIVES: Final = {
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce_coalesced",
    "allgather": "all_gather",
    "allgather_coalesced": "all_gather_coalesced",
    "_allgather_base": "all_gather_into_tensor",
    "all_gather_single": "all_gather_into_tensor",
    "allgather_into_tensor_coalesced": "all_gather_into_tensor",
    "all_gather_single_coalesced": "all_gather_into_tensor",
    "alltoall": "all_to_all",
    "alltoall_base": "all_to_all_single",
    "all_to_all_single": "all_to_all_single",
    "barrier": "barrier",
    "monitored_barrier": "monitored_barrier",
    "broadcast": "broadcast",
    "gather": "gather",
    "reduce": "reduce",
    "reduce_scatter": "reduce_scatter",
    "_reduce_scatter_base": "reduce_scatter_tensor",
    "reduce_scatter_single": "reduce_scatter_tensor",
    "reduce_scatter_tensor_coalesced": "reduce_scatter_tensor",
    "reduce_scatter_single_coalesced": "reduce_scatter_tensor",
    "scatter": "scatter",
}
_BETWEEN_TWO: Final = {"send": "send", "recv": "recv", "recv_anysource": "recv"}
# What DDP does in C++: in every forward, and when it is made.
_OF_DDP: Final = {"_sync_buffers": "broadcast of buffers"}
_OF_DDPS_MAKING: Final = {
    "_verify_param_shape_across_processes": "comparison of parameters",
    "_sync_module_states": "broadcast of parameters",
}


def install(torch: Any, patches: Patches) -> None:
    distributed = torch.distributed
    if not distributed.is_available():
        return
    calls = _Calls()
    for name, label in _COLLECTIVES.items():
        calls.watch(distributed.ProcessGroup, name, label, patches, is_collective=True)
    for name, label in _BETWEEN_TWO.items():
        calls.watch(distributed.ProcessGroup, name, label, patches, is_collective=False)
    parallel = torch.nn.parallel.distributed
    module = parallel.DistributedDataParallel
    for name, label in _OF_DDP.items():
        calls.watch(module, name, label, patches, is_collective=True)
    for name, label in _OF_DDPS_MAKING.items():
        patches.phase(parallel, name, SpanCategory.COMMUNICATION, label)
    calls.watch_waiting(distributed.Work, patches)
    _watch_start(distributed, patches)
    ddp.install(torch, patches)


_What = tuple[str, int, int]  # a collective's name, its number, and its group
_Begun = tuple[int, _What]  # the span, and what it is about


class _Calls:
    """Numbers the collectives of each group in call order: the same on all its ranks."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        # What is waited for.
        self._works: weakref.WeakKeyDictionary[Any, _What] = weakref.WeakKeyDictionary()

    def watch(
        self, owner: Any, name: str, label: str, patches: Patches, *, is_collective: bool
    ) -> None:
        """`owner.name(group or DDP, ...)`, which may return a Work."""
        if name not in vars(owner):
            return

        def begins(group: Any = None, /, *_args: Any, **_kwargs: Any) -> _Begun | None:
            what = (label, *self._place(group, is_collective))
            span = _begin(what)
            return None if span is None else (span, what)

        patches.watch(owner, name, begins, self._ended)

    @compiled_graphs.are_not_for
    def _place(self, owner: Any, is_collective: bool) -> tuple[int, int]:
        """(number, name of the group); zeros if ranks cannot be matched by it."""
        if not is_collective or naming.name_id is None:
            return 0, 0
        try:
            name = str(getattr(owner, "process_group", owner).group_name)
        except Exception as error:  # a kind of group that has no name
            let_pass(error)
            return 0, 0
        number = self._numbers[name] = self._numbers.get(name, 0) + 1
        return number, naming.name_id(f"group {name}")

    def _ended(self, begun: _Begun, work: Any) -> None:
        span, what = begun
        if work is not None:
            with contextlib.suppress(TypeError):  # no weak references to it: its wait has no name
                self._works[work] = what
        _core.span_end(span)

    def watch_waiting(self, work: Any, patches: Patches) -> None:
        def begins(waited: Any, /, *_args: Any, **_kwargs: Any) -> int | None:
            return _begin(self._works.get(waited) or ("wait", 0, 0))

        patches.watch(work, "wait", begins)


@compiled_graphs.are_not_for
def _begin(what: _What) -> int | None:
    label, number, group = what
    if naming.name_id is None:
        return None
    return _core.span_begin(naming.name_id(label), SpanCategory.COMMUNICATION, number, group)


# --- which rank -----------------------------------------------------------------------------------


def _watch_start(distributed: Any, patches: Patches) -> None:
    """The default group knows the rank."""

    def report(*_args: Any, **_kwargs: Any) -> None:
        running_recording.report_rank(distributed.get_world_size, distributed.get_rank)

    begin = distributed.init_process_group
    timed_begin = timed(begin, SpanCategory.COMMUNICATION, "init_process_group")
    init_process_group = followed(timed_begin, report)
    places = (distributed, distributed.distributed_c10d)
    patches.set_everywhere(places, "init_process_group", begin, init_process_group)
    if distributed.is_initialized():  # recording began later
        report()
