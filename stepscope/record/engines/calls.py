"""The call engine as the recording uses it: counts every call from `start` on, until `stop`.

3.12 and later: global sys.monitoring events. 3.11: the C profile function, on every thread.
"""

import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType

from stepscope.native import _core
from stepscope.record.engines import tool_ids
from stepscope.record.engines.calibrate import TURNS, best_ns, many_calls
from stepscope.typed import Final

TAKEN: Final = (
    "Calls are missing after the script set its own profile function: on Python 3.11 "
    "there is only one, and the script's wins."
)
NO_ID: Final = "Calls are not recorded: other tools hold all of sys.monitoring's ids."
CALLS_STREAM: Final = 2  # its place in storage_states()
NO_SPACE: Final = "Calls are not recorded: there is no space for them."

_RUN_AS_MAIN: Final = ("runpy", "_run_code")  # what `python -m` runs its module with

_on_trouble: Callable[[str], None] | None = None


class Calls:
    """Counting begins with the user's first code: Python's own start-up is not of interest."""

    def __init__(self, is_users: Callable[[str], bool], on_trouble: Callable[[str], None]) -> None:
        self._is_users = is_users
        self._on_trouble = on_trouble
        self._waits = True

    def start(self) -> None:
        if any(self._is_users(frame.f_code.co_filename) for frame in _callers()):
            self._begin()

    def see(self, code: CodeType) -> None:
        """This code is about to run."""
        if self._waits and (self._is_users(code.co_filename) or _is_run_as_main()):
            self._begin()

    def _begin(self) -> None:
        self._waits = False
        start(self._on_trouble)

    def stop(self) -> None:
        if not self._waits:
            stop()


def _callers() -> Iterator[FrameType]:
    frame = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back  # type: ignore[assignment]  # None ends the chain


def _is_run_as_main() -> bool:
    innermost = next(
        (
            frame
            for frame in _callers()
            if not str(frame.f_globals.get("__name__")).startswith("stepscope.")
        ),
        None,
    )
    return (
        innermost is not None
        and (innermost.f_globals.get("__name__"), innermost.f_code.co_name) == _RUN_AS_MAIN
    )


def start(on_trouble: Callable[[str], None]) -> None:
    """Count from now on; problems go to `on_trouble`, and the script continues."""
    global _on_trouble
    _on_trouble = on_trouble
    if not _core.storage_states()[CALLS_STREAM][0]:
        on_trouble(NO_SPACE)
        return
    _core.calls_start()
    _attach()


def measure_cost_ns() -> float:
    """What counting one call costs here: the same loop with and without it, the best of a few."""
    plain_ns = best_ns(many_calls)
    start(_say_nothing)
    try:
        return max(best_ns(many_calls) - plain_ns, 0.0) / TURNS
    finally:
        stop()


def _say_nothing(text: str) -> None: ...


def stop() -> None:
    global _on_trouble
    _detach()
    _core.calls_stop()
    _on_trouble = None


def _taken() -> None:
    _report(TAKEN)


def _report(text: str) -> None:
    if _on_trouble is not None:
        _on_trouble(text)


# --- sys.monitoring ------------------------------------------------------------------------------

if sys.version_info >= (3, 12):

    def _begin(tool_id: int) -> None:
        _core.calls_attach(_taken)
        wanted = (name for name in _core.calls_callbacks() if not name.startswith("C_"))
        sys.monitoring.set_events(tool_id, sum(map(tool_ids.event, wanted)))  # C_* come with CALL

    def _end(tool_id: int) -> None:
        _core.calls_detach()

    def _lost() -> None:
        _core.calls_stop()
        _report(NO_ID)

    _tool = tool_ids.Tool(_core.calls_callbacks, _begin, _end, _lost)

    def _attach() -> None:
        if not _tool.attach():
            _lost()

    def _detach() -> None:
        _tool.detach()

else:

    def _attach() -> None:
        _core.calls_attach(_taken)

    def _detach() -> None:
        _core.calls_detach()
