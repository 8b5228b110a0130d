"""What can be profiled, and the wrappers for it.

A wrapper switches the profiler on while the wrapped function runs: for a generator from resumption
to suspension, for a coroutine from its first to its last step, as line_profiler does. Values,
exceptions and closing go through to the wrapped generator.
"""

import functools
import inspect
import types
import warnings
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from typing import Any, Final, NamedTuple, Protocol

from stepscope.line_profiler.scope import ScopingPolicy, admits

MARK: Final = "__stepscope_line_profiler__"
_MADE_IN_C: Final = (
    types.BuiltinFunctionType,
    types.BuiltinMethodType,
    types.ClassMethodDescriptorType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
)
_HOLDERS_OF_FUNC: Final = (functools.partial, functools.partialmethod, functools.cached_property)


class Switch(Protocol):
    """The part of a profiler that wrappers need."""

    def enable_by_count(self) -> None: ...
    def disable_by_count(self) -> None: ...


class Mark(NamedTuple):
    """What a wrapper holds: its function and its profiler."""

    function: Callable[..., Any]
    profiler_id: int


def is_made_in_c(thing: object) -> bool:
    return isinstance(thing, _MADE_IN_C)


def mark_of(thing: object) -> Mark | None:
    mark = getattr(thing, MARK, None)
    return mark if isinstance(mark, Mark) else None


def is_wrapped_by(profiler: Switch, thing: object) -> bool:
    mark = mark_of(thing)
    return mark is not None and mark.profiler_id == id(profiler)


# --- which functions belong to an object --------------------------------------------------------


def functions_behind(thing: object) -> list[types.FunctionType]:
    """The plain functions of a function, method, property, partial, class or callable object;
    TypeError for anything else."""
    found = list(_behind(thing, set(), into_classes=True))
    return [one for one in found if isinstance(one, types.FunctionType)]


def _behind(thing: object, seen: set[int], *, into_classes: bool) -> Iterator[Any]:
    """Functions, and classes that are not looked into; each once."""
    if isinstance(thing, types.MethodType | classmethod | staticmethod):
        yield from _behind(thing.__func__, seen, into_classes=into_classes)
    elif isinstance(thing, _HOLDERS_OF_FUNC):
        yield from _behind(thing.func, seen, into_classes=into_classes)
    elif isinstance(thing, property):
        for part in (thing.fget, thing.fset, thing.fdel):
            if part is not None:
                yield from _behind(part, seen, into_classes=into_classes)
    elif isinstance(thing, type):
        yield from (_behind_class(thing, seen) if into_classes else [thing])
    elif not callable(thing):
        raise TypeError(f"{thing!r}: there are no functions behind a {type(thing).__name__}")
    elif id(thing) not in seen and not is_made_in_c(thing):
        seen.add(id(thing))
        yield thing if isinstance(thing, types.FunctionType) else type(thing).__call__


def _behind_class(owner: type, seen: set[int]) -> Iterator[Any]:
    for member in list(vars(owner).values()):
        try:
            behind = list(_behind(member, seen, into_classes=False))
        except TypeError:
            continue
        for one in behind:
            if not _is_own(owner, one):
                continue
            if isinstance(one, type):
                yield from _behind_class(one, seen)
            else:
                yield one


def _is_own(owner: type, member: Any) -> bool:
    """Defined in the body of that class itself."""
    kind = "class" if isinstance(member, type) else "func"
    return admits(ScopingPolicy.CHILDREN, owner, kind)(member)  # type: ignore[arg-type]  # literal


# --- wrappers -----------------------------------------------------------------------------------


def wrap(profiler: Switch, thing: Any) -> Any:
    """The wrapped object; the object itself if it cannot or need not be wrapped."""
    if is_made_in_c(thing) or is_wrapped_by(profiler, thing):
        return thing
    if isinstance(thing, classmethod | staticmethod):
        return _rebuilt(thing, type(thing)(wrap(profiler, thing.__func__)))
    if isinstance(thing, types.MethodType):
        return types.MethodType(wrap(profiler, thing.__func__), thing.__self__)
    if isinstance(thing, functools.partial | functools.partialmethod):
        inner = wrap(profiler, thing.func)
        return _rebuilt(thing, type(thing)(inner, *thing.args, **thing.keywords))
    if isinstance(thing, property):
        return _wrap_property(profiler, thing)
    if isinstance(thing, functools.cached_property):
        cached = type(thing)(wrap(profiler, thing.func))
        cached.attrname = thing.attrname
        return _rebuilt(thing, cached)
    if isinstance(thing, type):
        return _wrap_class(profiler, thing)
    if not callable(thing):
        raise TypeError(f"{thing!r}: a {type(thing).__name__} cannot be profiled")
    return _marked(_wrapper_for(thing)(profiler, thing), thing, profiler)


def wrap_members(profiler: Switch, namespace: Any, members: dict[str, Any]) -> None:
    """Replace these members by wrappers; warns about those that cannot be replaced."""
    failed = []
    for name, member in members.items():
        wrapper = wrap(profiler, member)
        if wrapper is member:
            continue
        try:
            setattr(namespace, name, wrapper)
        except (AttributeError, TypeError):
            failed.append(name)
    if failed:
        warnings.warn(f"cannot wrap {', '.join(failed)} of {namespace!r}", stacklevel=3)


def _wrap_class(profiler: Switch, owner: type) -> type:
    """The same class; what its own body defines is wrapped in place."""
    members = {}
    for name, member in vars(owner).items():
        try:
            behind = list(_behind(member, set(), into_classes=False))
        except TypeError:
            continue
        if any(_is_own(owner, one) for one in behind):
            members[name] = member
    wrap_members(profiler, owner, members)
    return owner


def _wrap_property(profiler: Switch, thing: property) -> Any:
    getter, setter, deleter = (
        None if part is None else wrap(profiler, part)
        for part in (thing.fget, thing.fset, thing.fdel)
    )
    return _rebuilt(thing, type(thing)(getter, setter, deleter, thing.__doc__))


def _rebuilt(old: Any, new: Any) -> Any:
    """Copies what was set on the old descriptor."""
    for name, value in getattr(old, "__dict__", {}).items():
        new.__dict__.setdefault(name, value)
    return new


def _marked(wrapper: Any, thing: Any, profiler: Switch) -> Any:
    inner = mark_of(thing)
    setattr(wrapper, MARK, Mark(inner.function if inner else thing, id(profiler)))
    return wrapper


def _wrapper_for(thing: Callable[..., Any]) -> Callable[[Switch, Any], Any]:
    if inspect.isasyncgenfunction(thing):
        return _around_async_generator
    if inspect.iscoroutinefunction(thing):
        return _around_coroutine
    if inspect.isgeneratorfunction(thing):
        return _around_generator
    return _around_function


def _around_function(profiler: Switch, function: Callable[..., Any]) -> Callable[..., Any]:
    enable, disable = profiler.enable_by_count, profiler.disable_by_count

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        enable()
        try:
            return function(*args, **kwargs)
        finally:
            disable()

    return wrapper


def _around_generator(profiler: Switch, function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        resume, value = generator.send, None
        while True:
            profiler.enable_by_count()
            try:
                item = resume(value)
            except StopIteration as end:
                return end.value
            finally:
                profiler.disable_by_count()
            try:
                resume, value = generator.send, (yield item)
            except GeneratorExit:
                _closed(profiler, generator)
                raise
            except BaseException as error:
                resume, value = generator.throw, error

    if function.__code__.co_flags & inspect.CO_ITERABLE_COROUTINE:
        return types.coroutine(wrapper)
    return wrapper


def _closed(profiler: Switch, generator: Any) -> None:
    profiler.enable_by_count()
    try:
        generator.close()
    finally:
        profiler.disable_by_count()


def _around_coroutine(profiler: Switch, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        profiler.enable_by_count()
        try:
            return await function(*args, **kwargs)
        finally:
            profiler.disable_by_count()

    return wrapper


def _around_async_generator(profiler: Switch, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        generator = function(*args, **kwargs)
        resume, value = generator.asend, None
        while True:
            profiler.enable_by_count()
            try:
                item = await resume(value)
            except StopAsyncIteration:
                return
            finally:
                profiler.disable_by_count()
            try:
                resume, value = generator.asend, (yield item)
            except GeneratorExit:
                await generator.aclose()
                raise
            except BaseException as error:
                resume, value = generator.athrow, error

    return wrapper
