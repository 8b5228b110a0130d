"""Exceptions of the script's signal handlers that are raised while one of our hooks runs.

Python calls a handler wherever the main thread happens to be. What it raises is the script's, and
must not be taken for an error of ours. A handler is known by its frame, not only by what is
registered: it may have removed itself before it raised.
"""

# Without the enums that `signal` makes of each answer, which take a thousand times as long.
import _signal  # type: ignore[import-not-found]  # it has no stub
import itertools
import sys
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType

from stepscope.typed import Final

_CHAIN_AT_MOST: Final = 100  # exceptions may refer to each other in a circle
_VARARGS: Final = 0x04  # inspect.CO_VARARGS, whose module would be slow to import


def let_pass(error: BaseException) -> None:
    """Raises what a signal handler raised, if that is what `error` is or comes from."""
    raised, _ = _raised_by_handler(error)
    if raised is None:
        return
    context = raised.__context__
    try:
        raise raised
    finally:
        raised.__context__ = context  # not the error of ours that is being handled


class suppressed:
    """contextlib.suppress for our own errors only."""

    def __init__(self, *kinds: type[Exception]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, self._kinds):
            return False
        let_pass(error)
        return True


def without_our_frames(error: BaseException) -> BaseException | None:
    """What a handler raised, its traceback cut to what the handler did; None: no handler did."""
    raised, traceback = _raised_by_handler(error)
    return None if raised is None else raised.with_traceback(traceback)


def _raised_by_handler(error: BaseException) -> tuple[BaseException | None, TracebackType | None]:
    """Our work may have wrapped it (a class calls `__set_name__`), or failed because of it."""
    for one in _chain(error):
        traceback = _from_handler(one.__traceback__)
        if traceback is not None:
            return one, traceback
    return None, None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """It, and what it comes from, up to what the script itself is handling meanwhile."""
    running = set(_stack(sys._getframe()))
    one: BaseException | None = error
    for _ in range(_CHAIN_AT_MOST):
        if one is None:
            return
        yield one
        one = one.__cause__ or one.__context__
        if one is not None and one.__traceback__ and one.__traceback__.tb_frame in running:
            return


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _from_handler(at: TracebackType | None) -> TracebackType | None:
    registered = _codes_of_handlers()
    while at is not None and not _is_handler(at.tb_frame, registered):
        at = at.tb_next
    return at


def _is_handler(frame: FrameType, registered: set[CodeType]) -> bool:
    """Registered, or called as handlers are: with a number and the frame that it interrupts."""
    if frame.f_code in registered:
        return True
    given = _arguments(frame)
    return any(
        isinstance(number, int) and interrupted is frame.f_back and interrupted is not None
        for number, interrupted in itertools.pairwise(given)
    )


def _arguments(frame: FrameType) -> list[object]:
    """Those that are still what they were; `*args` one by one."""
    code, values = frame.f_code, frame.f_locals
    named = code.co_argcount
    given = [values.get(name) for name in code.co_varnames[:named]]
    if code.co_flags & _VARARGS:
        rest = values.get(code.co_varnames[named + code.co_kwonlyargcount])
        given.extend(rest if isinstance(rest, tuple) else ())
    return given


def _codes_of_handlers() -> set[CodeType]:
    set_ones = (_signal.getsignal(number) for number in range(1, _signal.NSIG))
    codes = (getattr(handler, "__code__", None) for handler in set_ones)
    return {code for code in codes if isinstance(code, CodeType)}
