"""Exceptions of the script's signal handlers that are raised while one of our hooks runs."""

import signal
from types import CodeType, TracebackType


def traceback_of_handler(error: BaseException) -> TracebackType | None:
    """The part of its traceback that begins in a signal handler; None: no handler raised it."""
    handlers = _codes_of_handlers()
    at = error.__traceback__
    while at is not None and at.tb_frame.f_code not in handlers:
        at = at.tb_next
    return at


def _codes_of_handlers() -> set[CodeType]:
    set_ones = (signal.getsignal(number) for number in signal.valid_signals())
    codes = (getattr(handler, "__code__", None) for handler in set_ones)
    return {code for code in codes if isinstance(code, CodeType)}
