"""PyTorch: `record_function` and nvtx ranges of the script are regions."""

import functools
import sys
import threading
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

# Clearing gradients gets no span, but recognizing it here costs the least.
_OF_TORCH: Final = ("Optimizer.step#", "Optimizer.zero_grad#", "enumerate(DataLoader)#")


def install(torch: Any, patches: Patches) -> None:
    _watch_record_function(torch.autograd.profiler.record_function, patches)
    nvtx = getattr(getattr(torch, "cuda", None), "nvtx", None)
    if nvtx is not None:
        _watch_nvtx(nvtx, patches)


def _watch_record_function(record_function: Any, patches: Patches) -> None:
    """The script's own are regions. Torch marks its optimizers and loaders the same way, and the
    time for that (some 0.1 ms after an operator that has swept the caches) is part of their
    spans."""
    enter = _core.Edge(record_function.__enter__, _OF_TORCH, _begin_region)
    leave = _core.Edge(record_function.__exit__, _OF_TORCH, _end_region, is_end=True)
    for name, edge in (("__enter__", enter), ("__exit__", leave)):
        patches.on_undo(edge._stepscope_stop)
        patches.set(record_function, name, edge)


@compiled_graphs.are_not_for
def _begin_region(record_function: Any) -> None:
    if naming.name_id is not None and _is_scripts():
        span = _core.span_begin(naming.name_id(str(record_function.name)), SpanCategory.REGION)
        record_function._stepscope_span = span


@compiled_graphs.are_not_for
def _end_region(record_function: Any) -> None:
    _core.span_end(record_function.__dict__.pop("_stepscope_span", 0))


def _is_scripts() -> bool:
    """Whether the `with` is outside torch itself."""
    module = sys._getframe(2).f_globals.get("__name__") or ""
    return not str(module).startswith("torch.")


def _watch_nvtx(nvtx: Any, patches: Patches) -> None:
    push, pop = nvtx.range_push, nvtx.range_pop
    stack = threading.local()

    @functools.wraps(push)
    def range_push(msg: Any) -> Any:
        if naming.name_id is not None and not compiled_graphs.is_compiling():
            spans = stack.__dict__.setdefault("spans", [])
            spans.append(_core.span_begin(naming.name_id(str(msg)), SpanCategory.REGION))
        return push(msg)

    @functools.wraps(pop)
    def range_pop() -> Any:
        spans = stack.__dict__.get("spans")
        if spans:
            _core.span_end(spans.pop())
        return pop()

    patches.set(nvtx, "range_push", range_push)
    patches.set(nvtx, "range_pop", range_pop)
