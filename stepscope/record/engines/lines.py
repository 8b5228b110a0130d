"""The line engine as the rest of the recorder uses it: one interface over both front ends.

3.12 and later: local sys.monitoring events on the user's code objects. 3.11: ticks in the
bytecode. The engine counts while it has users: a recording, or any number of LineProfilers.
"""

import functools
import sys
from _weakref import ref  # weakref itself takes 0.4 ms, with what it imports
from collections.abc import Callable
from types import CodeType, FunctionType

from stepscope.errors import EnvironmentTrouble
from stepscope.native import _core
from stepscope.record.code.code_table import table, tree
from stepscope.record.engines import tool_ids

HAS_MONITORING = sys.version_info >= (3, 12)
MEMORY_ONLY_BYTES = 256 * 2**20  # at most: it is taken as it is used

# Called before the engine starts for a first user: LineProfilers at rest read their counters then.
before_start: list[Callable[[], None]] = []


def _nobody_listens(text: str) -> None: ...


on_trouble: Callable[[str], None] = _nobody_listens  # set by the recording: a note in the run

_users = 0  # users that want lines counted now
_keepers = 0  # users that will want it again soon
_attached = False
_aliases: dict[int, "ref[CodeType]"] = {}  # the same source compiled again, by address
_swapped: list[tuple["ref[FunctionType]", CodeType, CodeType]] = []


def register_code(code: CodeType, *, exact: bool = False) -> CodeType:
    """Record this code and all code nested in it; returns the code to run instead."""
    if HAS_MONITORING:
        for part in tree(code):
            if not _core.lines_is_registered(part) and (
                entry := table.add(part, part, exact=exact)
            ):
                if entry.code is not part:
                    _remember_alias(part)
                _listen(part)
            elif exact and _core.lines_is_registered(part):
                _core.lines_set_exact(part)
        return code
    if not _core.lines_is_registered(code):
        return _with_ticks(code, exact=exact)
    if exact:
        for part in tree(code):
            _core.lines_set_exact(part)
    return code


def _remember_alias(code: CodeType) -> None:
    """Until it is freed; a partial, because our own function would show in the script's tracer."""
    address = id(code)
    _aliases[address] = ref(code, functools.partial(_aliases.pop, address))


def register_function(function: FunctionType, exact: bool = True) -> CodeType:
    """Record this function; returns its code object as `_core.lines_read` takes it."""
    _ensure_storage()
    before = _without_our_ticks(function)
    code = register_code(before, exact=exact)
    if code is not function.__code__:
        function.__code__ = code
        _swapped.append((ref(function), before, code))
    return code


def _without_our_ticks(function: FunctionType) -> CodeType:
    """Its code. line_profiler makes its own from what a function has, which may be ours: counting
    that would count our old ticks, too."""
    code = function.__code__
    if HAS_MONITORING or _core.lines_is_registered(code):
        return code
    for reference, plain, ticked in reversed(_swapped):
        if reference() is function and code.co_consts == ticked.co_consts:
            return plain
    return code


def forget_function(function: FunctionType) -> None:
    """Unregister a function, as if it had never been recorded."""
    global _swapped
    function.__code__ = _core.original_code(function.__code__)
    _swapped = [entry for entry in _swapped if entry[0]() is not function]
    for part in tree(function.__code__):
        table.forget(part)


def load_the_rewriter() -> None:
    if not HAS_MONITORING:
        from stepscope.record.bytecode.tick_cache import load_the_rewriter

        load_the_rewriter()


def _with_ticks(code: CodeType, *, exact: bool) -> CodeType:
    from stepscope.record.bytecode.originals import plain
    from stepscope.record.bytecode.tick_cache import instrument_cached
    from stepscope.record.bytecode.ticked import bind

    def make_tick(original: CodeType, kind: int, line: int) -> object:
        return _core.make_tick(0, kind, line)

    def on_code(ticked: CodeType, original: CodeType, places: bytes, bare: bytes) -> bool:
        if places:
            _core.look_like(ticked, original, places, bare)
        return table.add(ticked, original, exact=exact) is not None

    instrumented = instrument_cached(plain(code))
    for reason in instrumented.skipped:
        on_trouble(f"Lines are not recorded: {reason}.")
    return bind(instrumented, make_tick, on_code)


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
    """After the last one the engine is detached, or at rest while a LineProfiler keeps it."""
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
    """After a recording closed its files: a LineProfiler that still counts continues."""
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
            # The newest first: a function that was given other code since (autoreload) keeps it.
            for reference, plain, ticked in reversed(_swapped):
                function = reference()
                if function is not None and function.__code__ is plain:
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
        if not _tool.attach():
            raise EnvironmentTrouble(
                "Lines cannot be recorded: other tools hold all of sys.monitoring's ids. "
                "Run without them."
            )

    def _release_tool() -> None:
        _tool.detach()

    def _begin(tool_id: int) -> None:
        sys.monitoring.set_events(tool_id, _EVENTS.PY_UNWIND)
        for code in _all_code():
            sys.monitoring.set_local_events(tool_id, code, _LOCAL)

    def _end(tool_id: int) -> None:
        for code in _all_code():
            sys.monitoring.set_local_events(tool_id, code, 0)

    def _lost() -> None:
        _core.lines_stop()
        on_trouble("Lines stopped: the script uses all of sys.monitoring's ids itself.")

    _tool = tool_ids.Tool(_core.monitoring_callbacks, _begin, _end, _lost)

    def _all_code() -> list[CodeType]:
        aliases = [
            code for reference in list(_aliases.values()) if (code := reference()) is not None
        ]
        return [entry.code for entry in table.entries] + aliases

    def _listen(code: CodeType) -> None:
        if _tool.id is not None:
            sys.monitoring.set_local_events(_tool.id, code, _LOCAL)

else:

    def _claim_tool() -> None: ...
    def _release_tool() -> None: ...
    def _listen(code: CodeType) -> None: ...
