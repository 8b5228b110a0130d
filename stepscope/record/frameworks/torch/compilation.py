"""torch.compile: each compilation as a phase, with the function, the cause, and graph breaks."""

import functools
import os
import sys
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_LONGEST_REASON: Final = 300  # characters


def install(callback: Any, patches: Patches) -> None:
    """`callback`: torch._dynamo.callback."""
    compilations = _Compilations()
    handler = callback.callback_handler
    for begins in (patches.become_readable, compilations.begins):
        handler.register_start_callback(begins)
        patches.on_undo(functools.partial(_forget, handler.remove_start_callback, begins))
    handler.register_end_callback(compilations.ends)
    patches.on_undo(lambda: _forget(handler.remove_end_callback, compilations.ends))


def _forget(remove: Any, callback: Any) -> None:
    try:
        remove(callback)
    except ValueError:
        return  # the script has cleared them


class _Compilations:
    """Dynamo calls these once per compilation, however deep it nests."""

    def __init__(self) -> None:
        self._span = 0

    def begins(self, _args: Any = None) -> None:
        if naming.name_id is not None:
            self._span = _core.span_begin(naming.name_id("torch.compile"), SpanCategory.COMPILE)

    def ends(self, _args: Any = None) -> None:
        span, self._span = self._span, 0
        if not span:
            return
        _core.span_end(span)
        if naming.name_id is not None:
            _core.span_rename(span, naming.name_id(_what_was_compiled()))


def _what_was_compiled() -> str:
    """From Dynamo's own metrics of its last compilation."""
    utils = sys.modules.get("torch._dynamo.utils")
    metrics = utils.get_compilation_metrics() if utils is not None else []
    if not metrics:
        return "torch.compile"
    last = metrics[-1]
    where = f"{os.path.basename(last.co_filename or '?')}:{last.co_firstlineno}"
    text = f"torch.compile {last.co_name} ({where})"
    reasons = [
        (getattr(last, "recompile_reason", None), "again because"),
        (", ".join(getattr(last, "restart_reasons", None) or ()), "broken by"),
        (getattr(last, "fail_reason", None), "failed:"),
    ]
    for reason, says in reasons:
        if reason:
            text += f"; {says} {' '.join(str(reason).split())[:_LONGEST_REASON]}"
    return text
