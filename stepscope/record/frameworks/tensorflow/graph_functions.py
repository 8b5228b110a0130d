"""TensorFlow: functions that were made by tf.function, called outside all graphs.

One that computes gradients or applies them does a step's passes, or all of them, in one: `compute`.
One that only calls a model is a forward pass without gradients. Any other is left alone.
"""

import itertools
import weakref
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.tensorflow import tracing
from stepscope.record.frameworks.watching import current_work
from stepscope.record.frameworks.watching.current_work import Parts, here
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.training_batches import samples_in
from stepscope.record.names import naming
from stepscope.record.steps import step_counter
from stepscope.store.format import ForwardFlag, SpanCategory, about_compute

FIRST_FUNCTION: Final = 1 << 20  # optimizers are numbered below
_COMMUNICATES: Final = "horovod."


_collectives: Final = itertools.count(1)
# Called with a call that is about to end, and its result. None: no listener.
on_result: "Callable[[Call, Any], object] | None" = None


def begin_collective(name: str) -> int:
    """Horovod's are called in the same order on all ranks: they are matched by their number."""
    assert naming.name_id is not None
    group = naming.name_id("group horovod")
    return _core.span_begin(
        naming.name_id(name), SpanCategory.COMMUNICATION, next(_collectives), group
    )


class Made:
    """What is known about one function that tf.function made."""

    def __init__(self, function: Any, number: int) -> None:
        self.number = number
        self.code = tracing.code_of(function._python_function)
        self.name = str(getattr(function, "_name", "function"))
        module = str(getattr(function._python_function, "__module__", ""))
        self.communicates = module.startswith(_COMMUNICATES)
        self.label = naming.name_id(self.name) if naming.name_id is not None else 0
        self.is_known = False  # it was traced while we watched
        self.parts = Parts()


class Call:
    """A running call, outside all graphs."""

    __slots__ = ("made", "span")

    def __init__(self, made: Made, span: int) -> None:
        self.made = made
        self.span = span


# A function that is called, what was being traced around it, and its call outside all graphs.
_Watched = tuple[Any, Parts | None, Call | None]


class _Functions:
    def __init__(self) -> None:
        self._made: weakref.WeakKeyDictionary[Any, Made] = weakref.WeakKeyDictionary()
        self._next = itertools.count(1)

    def of(self, function: Any) -> Made:
        made = self._made.get(function)
        if made is None:
            made = self._made[function] = Made(function, next(self._next))
            made.is_known = function.experimental_get_tracing_count() > 0
            made.parts.trains = made.is_known and _has_gradients(function)
        return made

    def begins(self, function: Any, args: Any, kwargs: Any) -> Call | None:
        if naming.name_id is None or here.call is not None or not current_work.is_eager():
            return None
        if function._run_functions_eagerly:  # its operations are recorded themselves
            return None
        current_work.begins()
        made = self.of(function)
        span = 0
        is_free = here.tape is None and not here.in_optimizer and not here.in_one_span
        if is_free or made.communicates:
            span = self._span(made, args, kwargs)
        call = here.call = Call(made, span)
        return call

    def _span(self, made: Made, args: Any, kwargs: Any) -> int:
        name = made.label
        if made.communicates:
            return begin_collective(made.name)
        samples = _samples(args, kwargs)
        if made.parts.trains or not made.is_known or here.in_batch:
            about = about_compute(samples, updates=True)
            return _core.span_begin(name, SpanCategory.COMPUTE, made.number, about)
        if made.parts.calls_model and not here.in_model:
            return _core.span_begin(name, SpanCategory.FORWARD, samples, ForwardFlag.NO_GRAD)
        return 0

    def ends(self, call: Call) -> bool:
        """Whether it trained."""
        here.call = None
        made = call.made
        is_first, made.is_known = not made.is_known, True
        trains = made.parts.trains
        if call.span and is_first and not trains and not made.communicates:
            _core.span_drop(call.span)
        elif call.span:
            _core.span_end(call.span)
        if trains:
            current_work.worked()
        return trains and bool(call.span)

    def was_called_in_graph(self, function: Any, around: Parts) -> None:
        """What it does, found now or when it was traced before, is part of what is being traced."""
        made = self.of(function)
        if here.tracing is not None:
            made.parts.add(here.tracing)
        around.add(made.parts)


def _has_gradients(function: Any) -> bool:
    """For a function that was traced before we came: the tape puts its name on its operations."""
    for concrete in function._list_all_concrete_functions():
        graph = concrete.graph.as_graph_def()
        nodes = [graph.node, *(inner.node_def for inner in graph.library.function)]
        if any("gradient_tape/" in node.name for part in nodes for node in part):
            return True
    return False


def _samples(args: Any, kwargs: Any) -> int:
    """Samples in the first argument that looks like a batch, along the dimension that the second
    one shares: inputs of (time, batch, features) come with labels of (batch,)."""
    shapes = [_shape(part) for part in ((*args, *kwargs.values()) if kwargs else args)]
    shapes = [shape for shape in shapes if shape and shape[0]]
    if not shapes:
        return 0
    samples = shapes[0][0]
    if len(shapes) == 2 and samples != shapes[1][0] and shapes[0][1:2] == shapes[1][:1]:
        samples = shapes[1][0]
    return min(int(samples), 2**40)


def _shape(part: Any) -> tuple[int, ...]:
    """Of a tensor, without making the object around its shape; of anything else, its samples."""
    shape = getattr(part, "_shape_tuple", None)
    return tuple(shape() or ()) if shape is not None else (samples_in(part),)


def install(python: Any, patches: Patches) -> None:
    made_by = python("eager.polymorphic_function.polymorphic_function").Function
    functions = _Functions()
    _watch_calls(made_by, functions, patches)
    tracing.install(python, patches)


def _watch_calls(made_by: Any, functions: _Functions, patches: Patches) -> None:
    def begins(function: Any, /, *args: Any, **kwds: Any) -> _Watched | None:
        call = functions.begins(function, args, kwds)
        around = here.tracing  # not None: this is a call inside a graph
        if around is not None:
            here.tracing = Parts()
        return None if call is None and around is None else (function, around, call)

    def ended(watched: _Watched, result: Any) -> None:
        function, around, call = watched
        if around is not None:
            try:
                functions.was_called_in_graph(function, around)
            finally:
                here.tracing = around
        if call is not None and on_result is not None:
            on_result(call, result)
        if call is not None and functions.ends(call) and not here.in_batch:
            step_counter.optimizer_stepped(FIRST_FUNCTION + call.made.number)

    def failed(watched: _Watched, _error: BaseException) -> None:
        _function, here.tracing, call = watched
        if call is not None:
            functions.ends(call)

    patches.watch(made_by, "__call__", begins, ended, failed)
