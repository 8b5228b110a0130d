"""PyTorch's DistributedDataParallel: how long backward waits for the reduction of the gradients.

The reduction runs in C++ in parallel with backward; when backward has computed everything, the rest
is waited for. DDP measures both itself, in its first ten iterations and every hundredth; if the
module is on the CPU it is asked to do so in all (on a device that would synchronise). The times of
an iteration are available when the next one's forward begins.
"""

import itertools
import time
import weakref
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs, notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.names import naming
from stepscope.signal_handlers import let_pass
from stepscope.store.format import SpanCategory

_NAME: Final = "reduction of gradients"
_TORCHS_RATE: Final = 100  # DDP measures one iteration in this many, unless asked


def install(torch: Any, patches: Patches) -> None:
    module = torch.nn.parallel.DistributedDataParallel
    if "_pre_forward" not in vars(module):
        return
    reductions = _Reductions()

    def begun(ddp: Any, /, *_args: Any, **_kwargs: Any) -> None:
        if naming.name_id is not None:
            reductions.read(ddp)

    patches.follow(module, "_pre_forward", begun)
    patches.on_undo(reductions.forget)


class _Reductions:
    """Each module's wait in each iteration becomes a span."""

    def __init__(self) -> None:
        # Module to (its number, when its last known reduction ended).
        self._known: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()
        self._next = itertools.count(1)
        self._is_off = False

    @compiled_graphs.are_not_for
    def read(self, module: Any) -> None:
        if self._is_off:
            return
        try:
            if module.device_type == "cpu":
                self._read(module)
        except Exception as error:  # a private part of torch, which may change
            let_pass(error)
            self._is_off = True
            notes.note(f"DDP's waits for gradients are not recorded: {error!r}")

    def _read(self, module: Any) -> None:
        if module not in self._known:
            self._known[module] = next(self._next), 0
            module.reducer._set_ddp_runtime_logging_sample_rate(1)
        number, before_ns = self._known[module]
        times = module.logger._get_ddp_logging_data().ints_map
        computed_ns = times.get("backward_compute_time_end", 0)
        reduced_ns = times.get("backward_comm_time_end", 0)
        if before_ns < computed_ns < reduced_ns:
            self._known[module] = number, reduced_ns
            _record(number, times["iteration"], computed_ns, reduced_ns)

    def forget(self) -> None:
        for module in list(self._known):
            try:
                module.reducer._set_ddp_runtime_logging_sample_rate(_TORCHS_RATE)
            except Exception as error:  # it may have been taken apart meanwhile
                let_pass(error)
        self._known.clear()


def _record(module: int, iteration: int, start_ns: int, end_ns: int) -> None:
    """Unix times, of a moment ago."""
    if naming.name_id is None:
        return
    now_ns, now, rate = time.time_ns(), _core.ticks(), _core.ticks_per_ns()
    _core.past_span(
        naming.name_id(_NAME),
        SpanCategory.COMMUNICATION,
        start=now - round((now_ns - start_ns) * rate),
        end=now - round((now_ns - end_ns) * rate),
        number=iteration,
        group=naming.name_id(f"DistributedDataParallel {module}"),
    )
