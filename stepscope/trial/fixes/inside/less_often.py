"""A function that does its work only at some of its calls; at the others it returns what it last
returned, and leaves the random numbers as if it had run."""

import functools
from collections.abc import Callable
from typing import Any

from stepscope.trial.fixes.inside.random_streams import Streams, draw_torch

Say = Callable[[str], object]


def less_often(function: Callable[..., Any], every: int | None, say: Say) -> Callable[..., Any]:
    """`every` None: only the first call. `say`: gets a few words at the first call left out."""
    calls = 0
    last: Any = None
    draws: _Draws = _Draws()

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls, last
        calls += 1
        if calls == 1:
            last = draws.watch(function, *args, **kwargs)
        elif every is not None and calls % every == 1:
            last = function(*args, **kwargs)
        else:
            draws.make_up()
            if calls == 2:
                say(f"{'first call only' if every is None else f'every {every}th call'}{draws}")
        return last

    return run


class _Draws:
    """The random numbers that one call draws: the steps after it must not get these.

    A loader draws a seed from torch whenever it starts, so an evaluation usually does."""

    def __init__(self) -> None:
        self._moved: list[str] = []
        self._of_torch: int | None = 0

    def watch(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        before = Streams()
        result = function(*args, **kwargs)
        after = Streams()
        self._moved = after.moved_since(before)
        if "torch" in self._moved:
            self._of_torch = after.torch_draws_since(before)
        return result

    def make_up(self) -> None:
        if self._of_torch:
            draw_torch(self._of_torch)

    def __str__(self) -> str:
        """What could not be made up for: the losses will show."""
        left = [name for name in self._moved if name != "torch" or self._of_torch is None]
        return f" (it draws random numbers of {' and '.join(left)})" if left else ""
