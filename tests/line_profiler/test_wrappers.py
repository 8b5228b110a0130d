"""What LineProfiler wraps behaves as before: values, exceptions, kinds, names."""

import asyncio
import functools
import gc
import inspect
import types
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from profiled import hits_of, load, work
from stepscope.line_profiler import LineProfiler


@pytest.fixture(autouse=True)
def profilers_are_gone() -> Iterator[None]:
    """A decorated function holds its profiler, and that the engine, until it is collected."""
    yield
    gc.collect()


def test_wrapped_generators_take_values_exceptions_and_closing() -> None:
    profiler = LineProfiler()
    seen: list[Any] = []

    @profiler
    def generator() -> Iterator[Any]:
        try:
            while True:
                try:
                    seen.append((yield len(seen)))
                except KeyError as error:
                    seen.append(repr(error))
        finally:
            seen.append("closed")

    running: Any = generator()
    assert next(running) == 0
    assert running.send("a") == 1
    assert running.throw(KeyError("k")) == 2
    running.close()
    assert seen == ["a", "KeyError('k')", "closed"]
    assert profiler.enable_count == 0


def test_a_wrapped_generator_keeps_its_return_value() -> None:
    @LineProfiler()
    def generator() -> Generator[int, None, int]:
        yield 1
        return 2

    running = generator()
    next(running)
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value == 2


def test_wrapped_coroutines_can_be_cancelled() -> None:
    profiler = LineProfiler()
    started = asyncio.Event()

    @profiler
    async def forever() -> None:
        started.set()
        await asyncio.Event().wait()

    async def cancel() -> None:
        task = asyncio.create_task(forever())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert profiler.enable_count == 0


def test_wrappers_look_like_what_they_wrap() -> None:
    profiler = LineProfiler()
    kinds = load("kinds")
    assert profiler(kinds.run).__doc__ == kinds.run.__doc__

    async def coroutine() -> None: ...
    async def async_generator() -> Any:
        yield 1

    def generator() -> Any:
        yield 1

    @types.coroutine
    def awaitable() -> Any:
        yield 1

    assert inspect.iscoroutinefunction(profiler(coroutine))
    assert inspect.isasyncgenfunction(profiler(async_generator))
    assert inspect.isgeneratorfunction(profiler(generator))
    assert inspect.isawaitable(profiler(awaitable)())
    assert inspect.signature(profiler(work)) == inspect.signature(work)


def test_exceptions_pass_and_leave_it_disabled() -> None:
    profiler = LineProfiler()

    @profiler
    def failing() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        failing()
    assert profiler.enable_count == 0


def test_wrapping_twice_is_wrapping_once() -> None:
    profiler = LineProfiler()
    once = profiler(work)
    assert profiler(once) is once
    assert len(profiler.functions) == 1


def test_what_is_made_in_c_is_left_as_it_is() -> None:
    profiler = LineProfiler()
    assert profiler(len) is len
    assert profiler.add_callable(len) == 0
    assert profiler.functions == []


def test_objects_with_a_call_method_are_profiled_through_it() -> None:
    class Model:
        def __call__(self, x: int) -> int:
            return x + 1

    profiler = LineProfiler()
    assert profiler(Model())(1) == 2
    assert [name.rpartition(".")[2] for _, name in hits_of(profiler)] == ["__call__"]


def test_things_that_cannot_be_profiled_are_refused() -> None:
    with pytest.raises(TypeError):
        LineProfiler()(5)


def test_adding_a_decorated_function_warns_that_it_is_the_wrapper() -> None:
    @functools.wraps(work)
    def wrapper(n: int) -> int:
        return work(n)

    with pytest.warns(UserWarning, match="__wrapped__"):
        LineProfiler().add_function(wrapper)


def test_adding_what_has_no_code_warns() -> None:
    with pytest.warns(UserWarning, match="no Python code"):
        LineProfiler().add_function(len)
