"""The line engine as the rest of the recorder uses it: one interface over both front ends.

3.12 and later: local sys.monitoring events on the user's code objects. 3.11: ticks in the
bytecode. The engine counts while anybody wants it: a recording, or any number of LineProfilers.
"""

import sys
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType

from stepscope.errors import EnvironmentTrouble
from stepscope.native import _core
from stepscope.record.code_table import table, tree

HAS_MONITORING = sys.version_info >= (3, 12)
MEMORY_ONLY_BYTES = 256 * 2**20
TOOL_IDS = (
    3,
    4,
)  # 0, 1, 2 and 5 are the debugger's, coverage's, the profiler's and the optimiser's

# Called before the engine starts for a first user: LineProfilers at rest read their counters then.
before_start: list[Callable[[], None]] = []

_users = 0  # who want lines counted now
_keepers = 0  # who will want it again soon
_attached = False
_tool_id: int | None = None
_aliases: list["weakref.ref[CodeType]"] = []  # the same source compiled again
_swapped: list[tuple["weakref.ref[FunctionType]", CodeType, CodeType]] = []


def register_code(code: CodeType, *, exact: bool = False) -> CodeType:
    """Record this code and all code nested in it; returns the code to run in its place."""
    if HAS_MONITORING:
        for part in tree(code):
            if not _core.lines_is_registered(part) and (
                entry := table.add(part, part, exact=exact)
            ):
                if entry.code is not part:
                    _aliases.append(weakref.ref(part))
                _listen(part)
            elif exact and _core.lines_is_registered(part):
                _core.lines_set_exact(part)
        return code
    return code if _core.lines_is_registered(code) else _with_ticks(code, exact=exact)


def register_function(function: FunctionType, exact: bool = True) -> CodeType:
    """Record this function; returns its code object as `_core.lines_read` takes it."""
    _ensure_storage()
    before = function.__code__
    code = register_code(before, exact=exact)
    if code is not before:
        function.__code__ = code
        _swapped.append((weakref.ref(function), before, code))
    return code


def _with_ticks(code: CodeType, *, exact: bool) -> CodeType:
    from stepscope.record.instrument import bind
    from stepscope.record.tick_cache import instrument_cached

    def make_tick(original: CodeType, kind: int, line: int) -> object:
        return _core.make_tick(0, kind, line)

    def on_code(ticked: CodeType, original: CodeType) -> None:
        table.add(ticked, original, exact=exact)

    return bind(instrument_cached(code), make_tick, on_code)


def engine_enable() -> None:
    """Count from now on; calls nest."""
    global _users
    _ensure_storage()
    _users += 1  # first: a profiler that is collected meanwhile must not detach the engine
    if _users > 1:
        return
    try:
        for settle in before_start:
            settle()
        _attach()
    except BaseException:
        _users -= 1
        raise


def engine_disable() -> None:
    """What the last one leaves is detached, or at rest while a LineProfiler keeps it."""
    global _users
    if _users == 0:
        return
    _users -= 1
    if _users == 0:
        _core.lines_stop()
        if not _keepers:
            _detach()


def keep_attached() -> None:
    """Until `let_go`, a stopped engine stays attached, so that starting it again costs next to
    nothing: a decorated function does so at every call."""
    global _keepers
    _keepers += 1


def let_go() -> None:
    global _keepers
    _keepers -= 1
    if not _keepers and not _users:
        _detach()


def go_on_in_memory() -> None:
    """After a recording closed its files: a LineProfiler that still counts goes on."""
    if _users:
        _ensure_storage()
        _core.lines_start()
        if sys.version_info >= (3, 12):
            sys.monitoring.restart_events()


def is_enabled() -> bool:
    return _users > 0


def _ensure_storage() -> None:
    """LineProfiler without a recording counts in memory."""
    if not _core.storage_is_open():
        _core.storage_open(None, MEMORY_ONLY_BYTES)


def _attach() -> None:
    global _attached
    if not _attached:
        if HAS_MONITORING:
            _claim_tool()
        else:
            for reference, _, ticked in _swapped:
                function = reference()
                if function is not None:
                    function.__code__ = ticked
        _attached = True
    _core.lines_start()


def _detach() -> None:
    global _attached
    if not _attached:
        return
    _attached = False
    if HAS_MONITORING:
        _release_tool()
        return
    for reference, plain, ticked in _swapped:
        function = reference()
        if function is not None and function.__code__ is ticked:
            function.__code__ = plain


# --- sys.monitoring ------------------------------------------------------------------------------

if sys.version_info >= (3, 12):
    _EVENTS = sys.monitoring.events
    _LOCAL = _EVENTS.LINE | _EVENTS.PY_RETURN | _EVENTS.PY_YIELD | _EVENTS.PY_RESUME

    def _claim_tool() -> None:
        global _tool_id
        for number in TOOL_IDS:
            if sys.monitoring.get_tool(number) is None:
                sys.monitoring.use_tool_id(number, "stepscope")
                _tool_id = number
                break
        else:
            raise EnvironmentTrouble(
                "Lines cannot be recorded: other tools hold sys.monitoring's ids 3 and 4. "
                "Run without them."
            )
        for name, callback in _core.monitoring_callbacks().items():
            sys.monitoring.register_callback(_tool_id, getattr(_EVENTS, name), callback)
        sys.monitoring.set_events(_tool_id, _EVENTS.PY_UNWIND)
        for code in _all_code():
            sys.monitoring.set_local_events(_tool_id, code, _LOCAL)
        sys.monitoring.restart_events()

    def _release_tool() -> None:
        global _tool_id
        if _tool_id is None:
            return
        sys.monitoring.set_events(_tool_id, 0)
        for code in _all_code():
            sys.monitoring.set_local_events(_tool_id, code, 0)
        for name in _core.monitoring_callbacks():
            sys.monitoring.register_callback(_tool_id, getattr(_EVENTS, name), None)
        sys.monitoring.free_tool_id(_tool_id)
        _tool_id = None

    def _all_code() -> list[CodeType]:
        _aliases[:] = [reference for reference in _aliases if reference() is not None]
        aliases = [code for reference in _aliases if (code := reference()) is not None]
        return [entry.code for entry in table.entries] + aliases

    def _listen(code: CodeType) -> None:
        if _tool_id is not None:
            sys.monitoring.set_local_events(_tool_id, code, _LOCAL)

else:

    def _claim_tool() -> None: ...
    def _release_tool() -> None: ...
    def _listen(code: CodeType) -> None: ...
