"""What `%stepline` counts: functions by name, modules, or a cell and everything it defines."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any, Final

from IPython.core.error import UsageError

from stepscope.line_profiler import LineProfiler
from stepscope.record.code.code_table import kind_of, tree
from stepscope.record.engines import lines

_FUNCTIONS: Final = ("function", "generator", "coroutine", "async generator")


def registered(codes: Iterable[CodeType]) -> list[CodeType]:
    """The code to run in their place: on 3.11, with ticks."""
    return [lines.register_function(FunctionType(code, {})) for code in codes]


def add_modules(profiler: LineProfiler, names: Sequence[str]) -> None:
    for name in names:
        try:
            module = importlib.import_module(name)
        except Exception as error:  # importing runs arbitrary code
            raise UsageError(f"Cannot import '{name}': {_described(error)}") from error
        if not profiler.add_module(module):
            raise UsageError(f"'{name}' defines no Python function whose lines could be counted.")


def add_functions(
    profiler: LineProfiler, names: Sequence[str], codes: Sequence[CodeType], shell: Any
) -> None:
    """What the cell is about to define takes precedence over what has the name now."""
    for name in names:
        defined = [part for part in _functions_in(codes) if part.co_qualname == name]
        for part in defined:
            profiler.add_function(_as_function(part))
        if not defined:
            _add_thing(profiler, name, _evaluated(name, shell))


def add_cell(
    profiler: LineProfiler, codes: Sequence[CodeType], *, with_functions: bool = True
) -> None:
    """The cell's own lines, and those of the functions it defines."""
    for part in (*codes, *(_functions_in(codes) if with_functions else ())):
        profiler.add_function(_as_function(part))


def _functions_in(codes: Iterable[CodeType]) -> Iterator[CodeType]:
    return (part for code in codes for part in tree(code) if kind_of(part) in _FUNCTIONS)


def _as_function(code: CodeType) -> FunctionType:
    """Never called: it only hands code to a LineProfiler."""
    closure = tuple(CellType() for _ in code.co_freevars)
    return FunctionType(code, {}, closure=closure)


def _evaluated(name: str, shell: Any) -> Any:
    try:
        return eval(name, shell.user_global_ns, shell.user_ns)
    except Exception as error:  # the expression may be anything
        try:
            return pkgutil.resolve_name(name)
        except (ImportError, AttributeError, ValueError):
            raise UsageError(f"There is no '{name}' to count: {_described(error)}") from error


def _add_thing(profiler: LineProfiler, name: str, thing: Any) -> None:
    """For a decorated function: the lines written under its name."""
    try:
        found = profiler.add_callable(inspect.unwrap(thing) if callable(thing) else thing)
    except TypeError as error:
        raise UsageError(f"'{name}' cannot be counted: {error}.") from error
    if not found:
        raise UsageError(f"'{name}' has no Python code whose lines could be counted.")


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
