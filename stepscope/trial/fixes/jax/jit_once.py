"""Jit a function once, where the script jits it again and again.

JAX keeps what it has compiled under the function object: a lambda or an inner function that is made
anew in every epoch is compiled anew, however often its code has been. Here functions with the same
code, defaults and closure share one jitted function. Numbers in the closure, such as a learning
rate, become arguments of it: as constants they would ask for a compilation each.
"""

import functools
from collections.abc import Callable, Iterable
from types import CellType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from stepscope.trial.fixes.fix import Keeps, Proposal, Refusal, Script, Settings, Stage

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

_ADVICE: Final = (
    "# Make the jitted function once, outside of the loop, and give it as arguments what changes:\n"
    "# update = jax.jit(update)  …  update(parameters, batch, rate)\n"
)
_SIMPLE: Final = (int, float, str, type(None))
_Jit = Callable[..., Any]


class JitOnce:
    name: Final = "jit-once"
    title: Final = "jit the function once"
    stage: Stage = "graph"
    keeps: Keeps = "rounding"
    is_ceiling: Final = False

    def propose(self, subject: "Subject") -> Proposal | Refusal | None:
        from stepscope.trial.fixes.proposing.jit_calls import may_jit_again
        from stepscope.trial.fixes.proposing.named_function import finding_of

        if finding_of(subject, "recompilation") is None:
            return None
        if not may_jit_again(subject.case.code.sources):
            return Refusal("every jax.jit of the script stands where it is called once")
        return Proposal({}, "one jitted function for all that have the same code", _ADVICE)

    def install(self, script: Script, settings: Settings) -> None:
        script.when_loaded("jax", functools.partial(_share, script))


FIX: Final = JitOnce()


def _share(script: Script, jax: ModuleType) -> None:
    jit, made = jax.jit, _Made(script, jax.jit)

    @functools.wraps(jit)
    def once(*args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or type(args[0]) is not FunctionType:
            return jit(*args, **kwargs)
        return made.get(args[0], kwargs)

    script.patches.set(jax, "jit", once)


class _Made:
    """The jitted functions, by what they compute."""

    def __init__(self, script: Script, jit: _Jit) -> None:
        self._script, self._jit = script, jit
        self._known: dict[Any, _Jit] = {}

    def get(self, function: FunctionType, options: dict[str, Any]) -> _Jit:
        """With options, numbers stay in the closure: arguments must keep their places."""
        try:
            cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
        except ValueError:  # one is not filled yet: the function may call itself
            return self._jit(function, **options)  # type: ignore[no-any-return]  # JAX's own
        numbers = [] if options else [i for i, each in enumerate(cells) if _is_number(each)]
        if not numbers:
            return self._known_or(function, _key(function, cells, options), options)
        fixed = [each for i, each in enumerate(cells) if i not in numbers]
        taking = _taking_numbers(function, cells, numbers)
        jitted = self._known_or(taking, (*numbers, _key(function, fixed, {})), {})
        return functools.partial(jitted, *(cells[i] for i in numbers))

    def _known_or(self, function: Callable[..., Any], key: Any, options: dict[str, Any]) -> _Jit:
        if key in self._known:
            self._script.applied(f"{function.__name__} is jitted once")
        else:
            self._known[key] = self._jit(function, **options)
        return self._known[key]


def _taking_numbers(function: FunctionType, cells: tuple[Any, ...], numbers: list[int]) -> _Jit:
    """The same function with these cells of its closure as its first arguments."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        values = dict(enumerate(cells)) | dict(zip(numbers, args, strict=False))
        return _with_cells(function, values.values())(*args[len(numbers) :], **kwargs)

    return run


def _key(function: FunctionType, cells: Iterable[Any], options: dict[str, Any]) -> Any:
    by_name = [each for pair in (function.__kwdefaults__ or {}).items() for each in pair]
    defaults = [*(function.__defaults__ or ()), *by_name]
    return function.__code__, _ids(cells), _ids(defaults), repr(sorted(options.items()))


def _is_number(value: Any) -> bool:
    """Not an int: code decides by those, and makes shapes of them."""
    return type(value) is float


def _ids(values: Iterable[Any]) -> tuple[Any, ...]:
    """By value where that is simple, else by identity; the key keeps them alive."""
    return tuple(each if isinstance(each, _SIMPLE) else _Same(each) for each in values)


class _Same:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _with_cells(function: FunctionType, values: Iterable[Any]) -> FunctionType:
    made = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(map(CellType, values)),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made
