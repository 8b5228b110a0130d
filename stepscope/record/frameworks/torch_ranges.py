"""PyTorch: `record_function` and nvtx ranges of the script are regions."""

import functools
import sys
import threading
from typing import Any

from stepscope.native import _core
from stepscope.record import marks
from stepscope.record.frameworks import patches as patching
from stepscope.record.frameworks import torch_edges
from stepscope.record.frameworks.patches import Patches, leave_out_this_frame
from stepscope.store.format import SpanCategory


def install(torch: Any, patches: Patches) -> None:
    _watch_record_function(torch.autograd.profiler.record_function, patches)
    nvtx = getattr(getattr(torch, "cuda", None), "nvtx", None)
    if nvtx is not None:
        _watch_nvtx(nvtx, patches)


def _watch_record_function(record_function: Any, patches: Patches) -> None:
    """Only the script's own: torch marks its optimizers and loaders the same way."""
    enter, leave = record_function.__enter__, record_function.__exit__
    is_edge, opens, closes = torch_edges.is_edge, torch_edges.opens, torch_edges.closes

    @functools.wraps(enter)
    def __enter__(self: Any) -> Any:
        if marks.name_id is not None and not patching.is_compiling():
            if is_edge(self.name):
                opens()
            elif _is_scripts():
                name = marks.name_id(str(self.name))
                self._stepscope_span = _core.span_begin(name, SpanCategory.REGION)
        try:
            return enter(self)
        except BaseException as error:  # a signal's handler: torch's own for workers that died
            leave_out_this_frame(error)
            raise

    @functools.wraps(leave)
    def __exit__(self: Any, *error: Any) -> Any:
        if patching.is_compiling():
            return leave(self, *error)
        is_torchs = is_edge(self.name)
        if not is_torchs:
            _core.span_end(self.__dict__.pop("_stepscope_span", 0))
        try:
            return leave(self, *error)
        except BaseException as raised:
            leave_out_this_frame(raised)
            raise
        finally:
            if is_torchs:
                closes()

    patches.set(record_function, "__enter__", __enter__)
    patches.set(record_function, "__exit__", __exit__)


def _is_scripts() -> bool:
    """Whether the `with` stands outside of torch itself."""
    module = sys._getframe(2).f_globals.get("__name__") or ""
    return not str(module).startswith("torch.")


def _watch_nvtx(nvtx: Any, patches: Patches) -> None:
    push, pop = nvtx.range_push, nvtx.range_pop
    stack = threading.local()

    @functools.wraps(push)
    def range_push(msg: Any) -> Any:
        if marks.name_id is not None and not patching.is_compiling():
            spans = stack.__dict__.setdefault("spans", [])
            spans.append(_core.span_begin(marks.name_id(str(msg)), SpanCategory.REGION))
        return push(msg)

    @functools.wraps(pop)
    def range_pop() -> Any:
        spans = stack.__dict__.get("spans")
        if spans:
            _core.span_end(spans.pop())
        return pop()

    patches.set(nvtx, "range_push", range_push)
    patches.set(nvtx, "range_pop", range_pop)
