"""The native core: clock, mapped storage, line engine, audit hook, heartbeat."""

from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

# --- clock -------------------------------------------------------------------------------------
CLOCK_KIND: int  # store.format.ClockKind
FRAMES_ARE_PUBLIC: int  # 1: this Python's frames are not laid out as we know them

def ticks() -> int: ...
def ticks_per_ns() -> float:
    """The rate as measured when the module was loaded: for thresholds, not for reports."""

def clock_triple() -> tuple[int, int, int]:
    """(ticks, monotonic ns, realtime ns), the tightest of 50 tries."""

# --- storage -----------------------------------------------------------------------------------
def storage_open(folder: str | None, max_bytes: int, calls: bool = False) -> None:
    """Create events.bin, lines.bin and samples.bin in `folder` and map them; None: memory only
    (LineProfiler), without samples. `calls`: and calls.bin. OSError when the folder cannot be
    written or has no space."""

def storage_close() -> None: ...
def storage_is_open() -> bool: ...
def storage_states() -> tuple[tuple[int, int], ...]:
    """(used bytes, StreamState) of events, lines and calls; 0 bytes: not open."""

class AppendFile:
    """A file that only grows, with a high descriptor, reopened if the script closed it. OSError
    if it cannot be created."""

    def __init__(self, path: str) -> None: ...
    def append(self, data: bytes) -> bool:
        """In one write, without letting other threads run. False: it was not written."""

    def close(self) -> None: ...

# --- events ------------------------------------------------------------------------------------
# These append a record and return its offset in the file, 0 when the stream is full.
def step_mark(*, who: int = 0, samples: int = 0, name: int = 0, start: int = 0) -> int:
    """`who`: a StepMark. `start` 0: now."""

def window(name: int, start: int, end: int, *, is_scripts: bool = False) -> int: ...
def loss(name: int, start: int, value: float, *, flags: int = 0) -> int:
    """A loss that was computed at `start`. `flags`: LossFlag."""

def past_span(
    name: int, category: int, start: int, end: int, *, number: int = 0, group: int = 0
) -> int:
    """A span that has ended; for a collective, with its number and its group."""

def span_begin(
    name: int, category: int, value0: int = 0, value1: int = 0, start: int = 0, /
) -> int:
    """An open span (`start` 0: now). SpanCategory says what the values mean."""

def span_end(offset: int, samples: int = 0, /) -> None:
    """`samples`: if not 0, the number of samples, which is known only now."""

def span_drop(offset: int) -> None:
    """Cancel it: the span gets no duration."""

def span_rename(offset: int, name: int) -> None: ...

class Edge:
    """Wraps, like Timed, a method that opens a framework's range (with `is_end`: closes it).
    Ranges whose `name` starts with one of `names` are the framework's own; for all others,
    `other` is called first."""

    def __init__(
        self,
        function: Callable[..., Any],
        names: tuple[str, ...],
        other: Callable[[Any], object],
        *,
        is_end: bool = False,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _stepscope_stop(self) -> None: ...

def range_span(name: int, category: int, value0: int = 0, value1: int = 0, /) -> int:
    """Like span_begin. The first span in a range begins and ends where the range does."""

class Timed:
    """`function` with a span around each call, otherwise identical to the function."""

    def __init__(self, function: Callable[..., Any], name: int, category: int) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _stepscope_stop(self) -> None:
        """From now on calls make no spans."""

class Forward:
    """Like Timed, for the method that calls a module: a span for the outermost call on its
    thread, with the samples in the batch and a ForwardFlag. `names`: class to the id of its
    name."""

    def __init__(
        self,
        function: Callable[..., Any],
        category: int,
        is_grad_enabled: Callable[[], bool],
        names: Mapping[type, int],
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _stepscope_stop(self) -> None: ...

def forward_begins(forward: Forward, module: Any, /, *args: Any, **kwargs: Any) -> int | None:
    """The same for a method in Python: returns the span, None if this is not the outermost
    call."""

def forward_ends(span: int | None, /) -> None: ...
def forward_modules(are_wanted: bool, /) -> None:
    """From now on a span for each module that is called inside the outermost one, or no more."""

def on_forward(listener: Callable[[Any], object] | None, /) -> None:
    """Called with the module before an outermost call."""

def samples_in(batch: object, /) -> int | None:
    """The length of the batch's first part, if it is known without computing anything."""

# Optimizers: call these before and after each step, with all arguments of the step's hook.
def optimizer_begins(optimizer: Any, args: object = None, kwargs: object = None, /) -> None: ...
def optimizer_ends(optimizer: Any, args: object = None, kwargs: object = None, /) -> None: ...
def optimizers_start(
    category: int,
    numbers: dict[int, int],
    on_new: Callable[[Any], tuple[int, int]],
    on_step: Callable[[int, int], int],
    /,
) -> None:
    """`on_new(optimizer)` returns its number and the id of its name, and puts the number into
    `numbers`, keyed by the optimizer's id. `on_step(number, steps)`: that many steps have ended;
    returns the number of steps at which to call it next."""

def optimizers_stop() -> None: ...
def optimizer_in_charge(optimizer: Any, /) -> None:
    """A wrapper of this optimizer reports its steps; None: there is none."""

def on_optimizer(listener: Callable[[Any], object] | None, /) -> None:
    """Called with the optimizer at the end of each step."""

def prints_start(name: int) -> None:
    """From now on the time in `print` is recorded as the phase `logging`."""

def prints_stop() -> None: ...
def counters() -> None:
    """Append CPU, IO, MEMORY and COST records with the current values."""

def passes() -> int:
    """Spans of forward, backward, optimizers and compiled steps so far: does anything train?"""

# --- line engine -------------------------------------------------------------------------------
def lines_register(
    code: CodeType,
    code_id: int,
    first_line: int,
    count: int,
    loops: tuple[tuple[int, int], ...],  # (line it is stamped at, loop id)
    exact: bool,
) -> bool:
    """Give `code` its counters. False when there is no space: the code runs unrecorded."""

def lines_alias(code: CodeType, same_as: CodeType) -> None:
    """The same source compiled again: `code` shares the counters of `same_as`."""

def lines_forget(code: CodeType) -> None:
    """Unregister a code object. It must not be running."""

def lines_is_registered(code: CodeType) -> bool:
    """Whether it is the user's own code, whose lines are recorded."""

def lines_read(code: CodeType) -> list[tuple[int, int, int, int]]:
    """(line, hits, ticks, sampled ticks) of every line that was hit, up to this moment."""

def lines_calls(code: CodeType) -> int: ...
def lines_set_exact(code: CodeType) -> None: ...
def lines_start() -> None:
    """Begin counting. 3.12+: `monitoring_callbacks` must be registered by the caller."""

def lines_stop() -> None:
    """Account for what is open, then count nothing until the next start."""

def lines_sync() -> None:
    """Add the time of the lines that are running right now to their counters."""

def lines_depth() -> int:
    """How many activations this thread has open."""

def lines_log(limit: int, until: int = 0, on_end: Callable[[], None] | None = None) -> int:
    """Also record when each line begins, at most `limit` times; 0 ends it. At the first line
    that begins at or after `until` ticks (0: never), on_end() is called on its thread, and again
    every 10 ms while the log stays as it is. 3.12+: the caller restarts sys.monitoring's events
    first. Returns how many entries the log had before the call."""

def lines_thin(code: CodeType) -> None:
    """Thin out this code now (the budget's decision, or a test's)."""

def lines_settle() -> None:
    """3.12+: take what is left of switched-off lines out of their code (the same)."""

def original_code(code: CodeType) -> CodeType:
    """The code as compiled; `code` itself if it has no ticks."""

def look_like(ticked: CodeType, plain: CodeType, places: bytes, bare: bytes) -> None:
    """3.11: whatever Python reads of `ticked` is from now on what `plain` has. `places`: three
    bytes for each instruction of `plain`, see native/python/places.h; `bare`: where `ticked` has a
    copy without ticks, see native/lines/bare.h."""

def monitoring_callbacks() -> dict[str, Callable[..., Any]]:
    """3.12+: event name (LINE, PY_RETURN, ...) to C callback."""

def tool_lend(tool_id: int, give_way: Callable[[], None]) -> None:
    """3.12+: other tools see our id as free; `give_way` is called before one of them takes it."""

def tool_take_back(tool_id: int) -> None:
    """Call this before our tool id is freed."""

def make_tick(code_id: int, kind: int, line: int) -> Any:
    """3.11: a constant whose `~` counts. The code must be registered before it runs;
    kind: 0 line, 1 exit, 2 line unless it is already the current one, 3 resume."""

def feed(kind: int, frame: int, code: CodeType, line: int, ticks: int) -> None:
    """For tests: one event with its time given; kinds as in make_tick."""

# --- call engine -------------------------------------------------------------------------------
def calls_start() -> None:
    """Begin counting; the storage must be open, with calls."""

def calls_attach(on_taken: Callable[[], None] | None) -> None:
    """3.11: install our profile function on every thread, new ones too; on_taken() when the
    script sets its own. 3.12+: the caller must register `calls_callbacks`."""

def calls_detach() -> None: ...
def calls_stop() -> None:
    """Account for what is open, then count nothing until the next start."""

def calls_callbacks() -> dict[str, Callable[..., Any]]:
    """3.12+: event name (PY_START, CALL, ...) to C callback."""

def calls_read() -> list[tuple[int, int, int, int, int]]:
    """(node, parent, function, calls, ticks) of every node; parent and function are 0 for roots,
    parents come first. Calls that are open have no ticks yet."""

def calls_feed(entering: bool, function: int, ticks: int) -> None:
    """For tests: one event of this thread with its time given; ticks must not be 0."""

# --- call graph: one at a time, for the thread that enables it (stepscope.Profile) ---------------
class CallGraph: ...

_Count = tuple[CodeType | str, int, int, int, int]
_CountWithCallees = tuple[CodeType | str, int, int, int, int, list[_Count]]

def graph_new(
    show: Callable[[Any], CodeType | str | None],
    timer: Callable[[], float] | None,
    timer_is_whole: bool,
) -> CallGraph:
    """show(code object or builtin): how getstats names it; None: not counted. timer(): seconds,
    or integers of any unit (`timer_is_whole`); None: ticks."""

def graph_enable(graph: CallGraph, subcalls: bool, builtins: bool) -> None:
    """3.12+: the caller must register `graph_callbacks`. ValueError: another graph is enabled,
    or (3.11) the thread has a profile function."""

def graph_disable(graph: CallGraph) -> bool:
    """Ends the open calls. False: it was not enabled."""

def graph_clear(graph: CallGraph) -> None: ...
def graph_read(graph: CallGraph) -> list[_CountWithCallees]:
    """(shown, calls, inner calls, ticks, own ticks, callees) over all calls that have ended."""

def graph_callbacks() -> dict[str, Callable[..., Any]]:
    """3.12+: event name (PY_START, CALL, ...) to C callback."""

# --- hooks -------------------------------------------------------------------------------------
def hooks_start(
    on_code: Callable[[CodeType], CodeType | None],
    on_open: Callable[[str, int, int], int | None],
    on_thread: Callable[..., int | None],
    on_fork: Callable[[], None],
    on_name: Callable[[str], int | None],
    on_import: Callable[[str], None],
    on_exit: Callable[[], None],
    watched: frozenset[str],
) -> None:
    """Install the audit hook (once per process; inert when stopped), the import hook and, on 3.11,
    the exec hook.
    on_code(code): sees every code object before it runs; on 3.11 may return a replacement.
    on_open(path, code_id, line): the id of that name, 0 to ignore the file.
    on_thread(): the id of the current thread, asked at its first event;
    on_thread(ident, native_id, is_pythons): the id of another thread, sampled before its first
    event (is_pythons: `threading` started it); 0 to be asked again.
    on_fork(): called in a forked child at its first event; must reopen the storage.
    on_name(text): the id of that name. on_import(name): after a module in `watched` was loaded.
    on_exit(): before os._exit ends the process."""

def find_handlers_with(function: Callable[[BaseException], object] | None, /) -> None:
    """function(exception): the part of its traceback that begins in a signal handler of the script,
    or None. What a handler raises while one of our hooks runs then reaches the script."""

def hooks_stop() -> None: ...
def others_ran() -> bool:
    """Whether other interpreters of the process have run since the hooks were started."""

def on_stamp(callback: Callable[[int, int, int], None] | None) -> None:
    """callback(loop id, ticks, line before) at every stamp, for --steps and similar options;
    exceptions it raises reach the user's loop."""

def stamp_always(loop_id: int, /) -> None:
    """Stamp this loop however fast it turns: it is known to be the step loop."""

def gc_callback(phase: str, info: dict[str, int], /) -> None:
    """For gc.callbacks: collections of 50 us and more become spans."""

# --- heartbeat: a native thread that takes the GIL every few ms ----------------------------------
def heartbeat_start(
    interval_ms: int,
    budget_share: float,
    event_cost_ns: float,
    thin: bool,
    on_second: Callable[[], None] | None = None,
    full_s: float = 600.0,
    exit_cost_ns: float = 0.0,
) -> None:
    """Samples stacks and thinned code, keeps the budget, takes clock triples and counters; after
    `full_s` seconds a tenth as often."""

def heartbeat_stop() -> None: ...
def heartbeat_pause() -> None:
    """End the thread until it is restarted: call it before a fork."""

def heartbeat_resume_soon() -> None:
    """Restart it when the main thread continues: call it after a fork, in the parent."""

# --- functions and samples -----------------------------------------------------------------------
def functions_hook(on_function: Callable[[Any], int | None] | None) -> None:
    """on_function(code object or builtin): the id of its name, 0 if it gets none; called once
    for each until the next call of this."""

def samples_feed(
    thread: int, stack: tuple[tuple[int, int], ...], start: int, weight: int, kind: int = 2, /
) -> bool:
    """For tests: a sample of thread 0 to 7 with a stack of (function, line), outermost first,
    and its SamplesKind. False: no space."""

def die_with_parent(parent_pid: int) -> bool:
    """Get a SIGKILL when the parent ends; False if it has already ended."""

# --- traces of operators -------------------------------------------------------------------------
def trace_events(text: bytes) -> tuple[bytes, list[bytes], int]:
    """Read the comma-separated JSON events of a trace. Returns their rows (`importers.kineto.rows`
    has the fields), the texts that the rows refer to by number, and how many bytes were read.
    Stops before the first event that is damaged or not as torch writes it."""

def spill_to(folder: str, memory_bytes: int, large_bytes: int, /) -> bool:
    """From now on, when the large arrays that this thread made in NumPy exceed these bytes, the
    oldest are moved to files without a name in this folder, with their address. False: it is on no
    disk of this machine, or cannot be written."""

def spill_stop() -> None:
    """New arrays are NumPy's own again."""

def spill_sizes() -> tuple[int, int]:
    """Bytes of large arrays in memory and in files."""
