"""What the magics print: messages on stderr, errors as IPython shows them, reports at the end."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from IPython.core.error import UsageError

from stepscope.errors import StepscopeError
from stepscope.spelled_out import spelled_out


def say(sentence: str) -> None:
    print(f"stepscope: {spelled_out(sentence)}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def errors_without_traceback() -> Iterator[None]:
    """Our own errors are one line, without a traceback."""
    try:
        yield
    except StepscopeError as error:
        raise UsageError(spelled_out(str(error))) from error


@contextlib.contextmanager
def then(report: Callable[[], None]) -> Iterator[None]:
    """Report after the block, however it ended. What the block raised passes through, even if the
    report fails."""
    try:
        yield
    except BaseException:
        try:
            report()
        except Exception as trouble:
            say(f"no report: {trouble or type(trouble).__name__}.")
        raise
    report()
