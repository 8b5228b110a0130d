"""How the magics speak: sentences on stderr, mistakes as IPython shows them, reports at the end."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from IPython.core.error import UsageError

from stepscope.errors import StepscopeError


def say(sentence: str) -> None:
    print(f"stepscope: {sentence}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def mistakes_told() -> Iterator[None]:
    """What we refuse is one line, and no traceback."""
    try:
        yield
    except StepscopeError as error:
        raise UsageError(str(error)) from error


@contextlib.contextmanager
def then(report: Callable[[], None]) -> Iterator[None]:
    """Report after the block, however it ended. What the block raised goes on as it is, whatever
    becomes of the report."""
    try:
        yield
    except BaseException:
        try:
            report()
        except Exception as trouble:
            say(f"no report: {trouble or type(trouble).__name__}.")
        raise
    report()
