"""TensorFlow: functions traced into graphs, and why they are traced again."""

import collections
import os
from types import CodeType
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import current_work, notes
from stepscope.record.frameworks.watching.current_work import Parts, here
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_MOST_NOTES: Final = 10  # nobody reads more
_LONGEST_VALUE: Final = 60  # characters
_MANY: Final = 3  # functions of one code: two models have two


def install(python: Any, patches: Patches) -> None:
    """Where a graph is made: a function that already has one does not come here."""
    module = python("eager.polymorphic_function.tracing_compilation")
    traces = _Traces()

    def begins(function_type: Any, _type_context: Any, /, *rest: Any) -> _Trace:
        trace = _Trace(here.tracing, function_type, rest[-1] if rest else None)
        here.tracing = current_work.latest_tracing = trace.parts
        return trace

    def ended(trace: _Trace, _made: Any) -> None:
        around = here.tracing = current_work.latest_tracing = trace.around
        if around is not None:
            around.add(trace.parts)
        elif here.call is not None:
            here.call.made.parts.add(trace.parts)
        if trace.span:
            _core.span_end(trace.span)
            if current_work.on_trace is not None:
                current_work.on_trace()
            traces.describe(trace)

    patches.watch(module, "_create_concrete_function", begins, ended)


class _Trace:
    """A function is being traced into a graph, inside that of `around`, if there is one."""

    def __init__(self, around: Parts | None, function_type: Any, options: Any) -> None:
        self.around, self.parts = around, Parts()
        self.function_type, self.options = function_type, options
        self.span = 0
        if naming.name_id is not None and around is None:  # else it is part of that one's
            self.span = _core.span_begin(naming.name_id("tf.function"), SpanCategory.COMPILE)


class _Traces:
    """How often each function's code was traced, and with what."""

    def __init__(self) -> None:
        self._times: collections.Counter[CodeType] = collections.Counter()
        self._notes = 0

    def describe(self, trace: _Trace) -> None:
        """Name its span after the function, and note why it was traced again."""
        if naming.name_id is None:
            return
        options = trace.options
        code = here.call.made.code if here.call is not None else None
        code = code or code_of(getattr(options, "python_function", None))
        name = here.call.made.name if here.call is not None else getattr(options, "name", "?")
        text = f"tf.function {name}"
        if code is not None:
            text += f" ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"
            why = self._why_again(code, trace.function_type, options)
            if why:
                text += f"; again because {why}"
                self._note(text)
        _core.span_rename(trace.span, naming.name_id(text))

    def _why_again(self, code: CodeType, function_type: Any, options: Any) -> str | None:
        cache = getattr(options, "function_cache", None)
        self._times[code] += 1
        earlier = [made.function_type for made in cache.values()] if cache is not None else []
        if earlier:
            return _difference(earlier, function_type, options)
        if self._times[code] >= _MANY and here.call and _core.lines_is_registered(code):
            return "tf.function was applied to it again"
        return None

    def _note(self, text: str) -> None:
        if self._notes < _MOST_NOTES:
            self._notes += 1
            notes.note(f"Traced again: {text}.")


def code_of(function: Any) -> CodeType | None:
    """The code of a Python function, inside all its wrappers; None for anything else."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code if isinstance(code, CodeType) else None


# --- why ------------------------------------------------------------------------------------------


def _difference(earlier: list[Any], now: Any, options: Any) -> str | None:
    """Compared with the most similar one. None: the first one created variables, and what is
    traced after that must not."""
    candidates = [_differing(before, now) for before in earlier]
    found = min(candidates, key=len)
    if not found and getattr(options.scope_type, "name", "") == "NO_VARIABLE_CREATION":
        return None
    if not found:
        return "the context of the call is different (device, distribution, variables)"
    return ", ".join(found)


def _differing(before: Any, now: Any) -> list[str]:
    """One text for each argument that differs."""
    texts = []
    old = before.parameters
    for name, parameter in now.parameters.items():
        was = old[name].type_constraint if name in old else None
        is_now = parameter.type_constraint
        if was is None or is_now is None or was != is_now:
            texts.append(_what_differs(name, was, is_now))
    return texts


def _what_differs(name: str, was: Any, now: Any) -> str:
    """In the argument `name`, or somewhere inside it."""
    for inner_was, inner_now in zip(_flat(was), _flat(now), strict=False):
        if inner_was == inner_now:
            continue
        if _is_tensor(inner_was) and _is_tensor(inner_now):
            if inner_was.dtype != inner_now.dtype:
                return f"{name} is {inner_now.dtype.name}, was {inner_was.dtype.name}"
            return f"{name} has the shape {_shape(inner_now)}, had {_shape(inner_was)}"
        if hasattr(inner_was, "value") and hasattr(inner_now, "value"):
            return f"the Python value {name} is {_short(inner_now.value)}, was " + _short(
                inner_was.value
            )
        return f"{name} is {_short(inner_now)}, was {_short(inner_was)}"
    return f"{name} has another structure"


def _flat(type_: Any) -> list[Any]:
    """The innermost types, in order."""
    for inside in ("components", "mapping"):
        parts = getattr(type_, inside, None)
        if isinstance(parts, dict):
            parts = list(parts.values())
        if isinstance(parts, list | tuple):
            return [each for part in parts for each in _flat(part)]
    return [type_]


def _is_tensor(type_: Any) -> bool:
    return hasattr(type_, "dtype") and hasattr(type_, "shape")


def _shape(spec: Any) -> str:
    shape = spec.shape
    if shape.rank is None:
        return "unknown"
    sizes = ["None" if size is None else str(size) for size in shape.as_list()]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
