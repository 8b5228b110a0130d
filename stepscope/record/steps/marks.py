"""Marks that the user may put into a script: regions and steps. Cheap no-ops if not recording."""

import functools
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, TypeVar, cast

from stepscope.native import _core
from stepscope.record.names import naming
from stepscope.record.steps import step_counter
from stepscope.store.format import SpanCategory, StepMark

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
_CO_COROUTINE = 0x80


class region:
    """A named part of the program: `with region("augment"):` or `@region("augment")`."""

    __slots__ = ("_name", "_open")

    def __init__(self, name: str) -> None:
        self._name = str(name)
        self._open: list[int] = []  # a region may be entered again inside itself

    def __enter__(self) -> "region":
        self._open.append(
            _begin(self._name, SpanCategory.REGION) if naming.name_id is not None else 0
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        offset = self._open.pop()
        if offset:
            _core.span_end(offset)

    def __call__(self, function: F) -> F:
        name = self._name
        if _is_coroutine_function(function):

            @functools.wraps(function)
            async def run(*args: Any, **keywords: Any) -> Any:
                with region(name):
                    return await function(*args, **keywords)

        else:

            @functools.wraps(function)
            def run(*args: Any, **keywords: Any) -> Any:
                with region(name):
                    return function(*args, **keywords)

        return cast(F, run)


def _is_coroutine_function(function: object) -> bool:
    """Without inspect: importing it later could find the script's own module."""
    return bool(getattr(getattr(function, "__code__", None), "co_flags", 0) & _CO_COROUTINE)


def _begin(name: str, category: SpanCategory) -> int:
    assert naming.name_id is not None
    return _core.span_begin(naming.name_id(name), category)


def step(samples: int | None = None) -> None:
    """A training step ends here. `samples`: how many samples it used, for the throughput."""
    if naming.name_id is None:
        return
    _core.step_mark(samples=samples or 0)
    step_counter.step_ended(step_counter.Source.MARK)


def steps(iterable: Iterable[T]) -> Iterator[T]:
    """`for batch in steps(loader)`: each turn is a step, waiting for the batch is its input."""
    if naming.name_id is not None:
        _core.step_mark(who=StepMark.BEGINS)
    iterator = iter(iterable)
    while True:
        waiting = _begin("input", SpanCategory.INPUT) if naming.name_id is not None else 0
        try:
            item = next(iterator)
        except StopIteration:
            return
        finally:
            if waiting:
                _core.span_end(waiting)
        yield item
        step(_core.samples_in(item))
