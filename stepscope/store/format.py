"""The run folder's format: every file, every record, every field, defined once.

Standard library only: the recorded process imports this. The C structures of
`native/storage/format.h` have the same fields; a test compares both, name by name.

RUN/
  run.json                     what was started, on which machine, with which options
  supervisor.json              how the script ended (written by the supervisor, when there is one)
  system.jsonl                 one line for each look at the machine (written by the supervisor)
  measured.json                gains that `stepscope try` measured on top of this run, if it did
  notes.jsonl                  sentences about the run as a whole, as in names.jsonl (any process)
  elsewhere-<host>.json        {"host", "folder"}: where a host's records are until moved here
  sources/<sha1>               the text of each recorded source file, as it was when it ran
  proc-<rank>-<host>-<pid>/    one per process
    process.json               role, parent, rank, status
    names.jsonl                what the numbers in the .bin files stand for, one object per line
    events.bin                 spans, stamps and counters
    lines.bin                  line counters and the activations that were open
    calls.bin                  with --calls: every call path, how often and for how long
    samples.bin                the stacks that were seen, and for how long
    trackers.jsonl             with --log: the script's runs in experiment trackers, one a line
    ops-<window>.json          operators, as the framework's own profiler wrote them: Kineto's
    ops-<window>.xplane.pb     JSON, or TensorFlow's and JAX's xplane
    trace.<ending>             of an imported run, besides process.json all there is: the file that
                               another tool wrote

All integers are little-endian. A record whose tag is 0 was never finished: readers stop there.
"""

import enum
import struct
from typing import Final

from stepscope.store.file_names import BESIDE_FILE as BESIDE_FILE
from stepscope.store.file_names import CALLS_FILE as CALLS_FILE
from stepscope.store.file_names import EVENTS_FILE as EVENTS_FILE
from stepscope.store.file_names import FORMAT_VERSION as FORMAT_VERSION
from stepscope.store.file_names import LINES_FILE as LINES_FILE
from stepscope.store.file_names import MEASURED_FILE as MEASURED_FILE
from stepscope.store.file_names import NAMES_FILE as NAMES_FILE
from stepscope.store.file_names import NOTES_FILE as NOTES_FILE
from stepscope.store.file_names import OPS_FILE as OPS_FILE
from stepscope.store.file_names import PROCESS_FILE as PROCESS_FILE
from stepscope.store.file_names import RUN_FILE as RUN_FILE
from stepscope.store.file_names import SAMPLES_FILE as SAMPLES_FILE
from stepscope.store.file_names import SOURCES_FOLDER as SOURCES_FOLDER
from stepscope.store.file_names import SUPERVISOR_FILE as SUPERVISOR_FILE
from stepscope.store.file_names import SYSTEM_FILE as SYSTEM_FILE
from stepscope.store.file_names import TABLES_FOLDER as TABLES_FOLDER
from stepscope.store.file_names import TRACE_FILE as TRACE_FILE
from stepscope.store.file_names import TRACKERS_FILE as TRACKERS_FILE


class Layout(struct.Struct):
    """The fields of a record, in their order: I is a u32, Q a u64, 8s text, 16x is reserved."""

    def __init__(self, **fields: str) -> None:
        super().__init__("<" + "".join(fields.values()))
        self.fields: Final = fields


MAGIC: Final = b"stepscop"


class Stream(enum.IntEnum):
    """Which .bin file this is."""

    EVENTS = 1
    LINES = 2
    CALLS = 3
    SAMPLES = 4


class StreamState(enum.IntEnum):
    """Why a stream stopped growing, if it did."""

    GROWING = 0
    FULL = 1  # it reached its share of --max-size
    REFUSED = 2  # the file system had no space for the next chunk
    LOST = 3  # another program cut the file
    NO_MEMORY = 4  # the process's limits on memory left no room for the next chunk


class ClockKind(enum.IntEnum):
    """What a tick is."""

    MONOTONIC = 0  # CLOCK_MONOTONIC: a tick is a nanosecond
    COUNTER = 1  # the CPU's invariant time-stamp counter


# Every .bin file begins with this header, 64 bytes.
HEADER: Final = Layout(
    magic="8s",  # MAGIC
    version="I",  # FORMAT_VERSION
    stream="I",  # Stream
    base="Q",  # address of the file's first byte in the recorded process
    used="Q",  # bytes handed out so far, this header included
    clock="I",  # ClockKind
    state="I",  # StreamState
    reserved="24x",  # 0
)


class EventKind(enum.IntEnum):
    """The low byte of an event's tag."""

    CLOCK = 1  # start ticks, end monotonic ns, value0 realtime ns
    SPAN = 2  # start..end ticks; end 0 while open; extra is a SpanCategory; name is of kind "name";
    #           value0, value1: as the category says
    STEP = 3  # stepscope.step(): a step ends at start ticks; value0 samples in it or 0;
    #           extra: a StepMark
    LOOP = 4  # a loop header was reached: start ticks; name is of kind "loop"; end = ticks at which
    #           the activation was entered (identifies it); extra = the line before it in
    #           this activation (0: none)
    OPEN = 5  # a file was opened: name is of kind "open"; start..end ticks of the activation that
    #           opened it (end 0 while it runs); value0 ticks of the opening; extra 1 = for writing;
    #           value1 = offset of the OPEN before it in the same activation (0: none)
    CPU = 6  # start ticks; end process CPU ns; value0 this thread's CPU ns;
    #          value1 = voluntary context switches << 32 | involuntary ones
    IO = 7  # start ticks; end bytes read; value0 bytes written; value1 = minor faults << 32 | major
    MEMORY = 8  # start ticks; end resident bytes; value0 peak resident bytes; value1 ns that the
    #             main thread was ready to run but had no core (0: not known); extra:
    #             KiB of the resident memory that are file-backed or shared (0: not known)
    COST = 9  # start ticks; end our own time so far, in ticks, slow paths (measured);
    #           value0 line events so far; value1 exit and resume events so far; extra: threads of
    #           the process, those of libraries included (0: not known)
    LINE_BEGINS = 10  # in operator windows: from start ticks on this thread is in line `extra` of
    #                   name, of kind "code"; both 0: not in a line of the user's code
    WINDOW = 11  # start..end ticks: operators were recorded; name: the file, "ops-1.json" (may be
    #              missing: it was not needed after all); extra 1: by the script's own profiler
    LOSS = 12  # with --losses: a loss of the training, known at start ticks; value0 the bits of a
    #            float64; name: where it comes from ("backward"); extra: a LossFlag
    REST = 13  # start..end ticks: events were left out, so that the file lasts as long as the job;
    #            value0: how many


# An event, 48 bytes.
EVENT: Final = Layout(
    tag="I",  # EVENT_TAG | EventKind, written last
    name="I",  # id in names.jsonl (0: none)
    start="Q",
    end="Q",
    thread="I",  # id of kind "thread"
    extra="I",
    value0="Q",
    value1="Q",
)
EVENT_TAG: Final = 0x57E90000


class StepMark(enum.IntEnum):
    """What reports that a step ends."""

    SCRIPT = 0  # stepscope.step()
    BEGINS = 1  # no step ends here: the first of a sequence begins (stepscope.steps)
    FRAMEWORK = 2  # a training batch of a framework; name: which ("Lightning")


class LossFlag(enum.IntFlag):
    RUNNING_MEAN = 1  # the mean over the batches since the epoch began, as Keras reports it


class SpanCategory(enum.IntEnum):
    """What a SPAN is; the numbers are part of the format."""

    REGION = 1  # stepscope.region and the frameworks' named ranges
    IMPORT = 2  # the outermost import on a thread
    GC = 3  # a garbage collection. value0: its generation + 1 (0: not known); value1: how many
    #         objects it freed
    PROFILER = 4  # our own work
    INPUT = 5  # value0: samples in the batch (0: not known, or no batch); value1, of a loader:
    #            its number << LOADER_WORKERS_BITS | how many workers it has (0: another input);
    #            the name ends with ".__iter__" where its iteration started, without a batch
    PREPARE = 6
    TRANSFER = 7
    FORWARD = 8  # value0: samples in its input (0: not known); value1: ForwardFlag
    BACKWARD = 9  # value1: BackwardFlag
    OPTIMIZER = 10  # value0: number of the optimizer that steps; 0: other work of an optimizer
    COMMUNICATION = 11  # a collective, or the wait for it. value0: its number in its group, from 1
    #                     (0: not one of a whole group); value1: the group, an id of kind "name":
    #                     both are the same on all ranks
    SYNC = 12
    COMPILE = 13
    EVALUATION = 14
    CHECKPOINT = 15  # value0: as of LOGGING
    LOGGING = 16  # value0, once it ended: ns in which the main thread was ready but had no core
    #               (0: it had one, or it is not known)
    STAGE = 17  # a stage of the input pipeline, by its name: "start workers" (value0: how many),
    #             "worker" (one was started: value0 its pid, value1 as of INPUT), "wait for work",
    #             "fetch" (value0: samples), "collate" (inside it), "send", "get", "pin memory"
    ACTION = 18  # a named action of a framework's own profiler (Lightning)
    COMPUTE = 19  # a compiled function that does the passes and the update in one (tf.function,
    #               Keras' train function, a jitted update). value0: the function's number (0: its
    #               steps are reported in another way); value1: COMPUTE_UPDATES if it is known
    #               to update, plus the samples it was given << COMPUTE_SAMPLES_BIT
    MODULE = 20  # in operator windows: a module (by its class) called inside another one


LOADER_WORKERS_BITS: Final = 16
COMPUTE_UPDATES: Final = 1
COMPUTE_SAMPLES_BIT: Final = 1


def about_loader(number: int, workers: int) -> int:
    """value1 of an INPUT span, and of a STAGE."""
    return number << LOADER_WORKERS_BITS | min(workers, (1 << LOADER_WORKERS_BITS) - 1)


def about_compute(samples: int, updates: bool) -> int:
    """value1 of a COMPUTE span."""
    return samples << COMPUTE_SAMPLES_BIT | (COMPUTE_UPDATES if updates else 0)


class ForwardFlag(enum.IntFlag):
    NO_GRAD = 1  # gradients were off
    EVALUATING = 2  # the module was in evaluation mode


class BackwardFlag(enum.IntFlag):
    WITH_FORWARD = 1  # the forward pass is part of it (jax.value_and_grad)


class BlockKind(enum.IntEnum):
    """The low byte of a block's tag in lines.bin."""

    CODE = 1
    THREAD = 2
    FREE = 3


# lines.bin is a sequence of blocks, each a header of 64 bytes and its entries; sizes are multiples
# of 8.
BLOCK: Final = Layout(
    tag="I",  # BLOCK_TAG | BlockKind, written last
    size="I",  # bytes of the whole block
    id="I",  # CODE: id of kind "code"; THREAD: id of kind "thread"
    first_line="I",  # CODE: line of the first entry
    count="I",  # number of entries
    flags="I",  # CODE: BlockFlag
    calls="Q",  # CODE: how often an activation began
    exits="Q",  # CODE: how often an activation ended: returns, yields, unwinds
    resumes="Q",  # CODE: how often a generator or coroutine went on
    reserved="16x",  # 0
)
BLOCK_TAG: Final = 0x11E50000


class BlockFlag(enum.IntFlag):
    THINNED = 1  # events are off: hits are lower bounds, further time comes from samples
    EXACT = 2  # never thin (@profile, LineProfiler, --exact)


# CODE entry, 24 bytes, one for each line from first_line on.
LINE: Final = Layout(
    hits="Q",  # bits 0..61 the count; bit 63: a loop header that is stamped; bit 62: thinned
    ticks="Q",  # time, callees included
    sampled="Q",  # ticks estimated by the sampler after thinning
)
HITS_MASK: Final = (1 << 62) - 1
HITS_THINNED: Final = 1 << 62
HITS_STAMPED: Final = 1 << 63

# THREAD entry, 64 bytes: an activation that was open; the first entry with frame 0 ends the list.
ACTIVATION: Final = Layout(
    frame="Q",  # address of the frame
    code="Q",  # address of the code object
    lines="Q",  # address of the entry of line 0, so that `lines + 24 * line` is a line's entry
    current="Q",  # address of the running line's entry (0: none); minus base: its offset
    since="Q",  # ticks at which that line began
    entered="Q",  # ticks at which the activation began
    opens="Q",  # offset of the last OPEN event of this activation in events.bin (0: none)
    record="Q",  # address of the code's block header
)


class CallsKind(enum.IntEnum):
    """The low byte of a tag in calls.bin: of blocks, then of the nodes in them."""

    NODES = 1
    STACK = 2
    FREE = 3
    NODE = 4  # a function called along one path
    ROOT = 5  # a thread: the calls below it have no caller


# calls.bin is a sequence of blocks. Each has a BLOCK header (tag: CALLS_TAG | CallsKind; id: of a
# STACK the thread; the fields about lines are 0) and `count` entries; sizes are multiples of
# CALLS_UNIT.
# NODES entry, 48 bytes; a parent comes before its children in the file.
CALL_NODE: Final = Layout(
    tag="I",  # CALLS_TAG | CallsKind, written last; 0: free
    function="I",  # id of kind "function"; 0: our own, to be left out
    parent="I",  # NODE: the caller's offset in the file, in CALLS_UNITs; ROOT: id of kind "thread"
    children="I",  # how many
    calls="Q",  # how often it was entered (a generator: each resume too)
    ticks="Q",  # time, callees included; own time is this minus its children's
    recent="Q",  # address of a child (0: none)
    next="Q",  # address of a sibling
)
CALLS_TAG: Final = 0xCA110000
CALLS_UNIT: Final = 16

# STACK entry, 24 bytes: a call that was open; the first is the thread's ROOT, node 0 ends the list.
CALL_ENTRY: Final = Layout(
    node="Q",  # address of its node; minus base: its offset in the file
    start="Q",  # ticks
    key="Q",  # address of what was called
)


class SamplesKind(enum.IntEnum):
    """The low byte of a record's tag in samples.bin."""

    NODE = 1
    SAMPLE = 2  # what the thread did is not known
    PYTHON = 3  # the interpreter ran
    NATIVE = 4  # C that the line called ran, in the thread or in those of a library that it awaited
    WAITING = 5  # the thread used no core, and nothing computed for it


# samples.bin is a sequence of records of 32 bytes, numbered from 1; a node's number is that of its
# record. A stack is a node and its parents.
# NODE: a function that was seen at a line, below another.
NODE: Final = Layout(
    tag="I",  # SAMPLES_TAG | SamplesKind, written last
    function="I",  # id of kind "function"; 0: frames that were left out of a deep stack
    parent="I",  # number of the caller's node (0: outermost); smaller than its own
    line="I",  # where it was (0: not known)
    reserved="16x",  # 0
)

# SAMPLE to WAITING: a thread was seen in a stack, once or several times in a row.
SAMPLE: Final = Layout(
    tag="I",  # SAMPLES_TAG | SamplesKind, written last
    thread="I",  # id of kind "thread"
    node="I",  # the innermost one; smaller than its own number
    count="I",  # how often it was seen
    start="Q",  # ticks of the sampling before the first of them
    weight="Q",  # ticks from there to the last of them
)
SAMPLES_TAG: Final = 0x5A3E0000

# names.jsonl: one JSON object per line, "is" says which:
#   {"is": "file", "id", "path", "source"}          source: name in sources/, or null
#   {"is": "code", "id", "file", "function", "first_line", "lines", "kind"}
#        file: id of kind "file"; function: qualified name; lines: how many entries its block has;
#        kind: "module" | "class" | "function" | "generator" | "coroutine" | "async generator" |
#              "comprehension" | "lambda"
#   {"is": "loop", "id", "code", "line", "last_line", "parent"}
#        line: where it is stamped; parent: id of the enclosing loop in the same code, or null
#   {"is": "function", "id", "file", "line", "name", "native"}
#        what calls and samples name: file is a path ("~" and line 0 for native ones, as pstats has
#        it), line the first line, name the qualified name or "<built-in method time.sleep>"
#   {"is": "thread", "id", "name", "native_id", "main"}
#   {"is": "name", "id", "name"}                    regions and other spans
#   {"is": "open", "id", "path", "code", "line"}    code and line that opened it (or null)
#   {"is": "note", "text", "severity"}              problems while recording; "info" | "warning"
# Ids count up from 1 within each "is".

# process.json:
#   {"format", "role": "main|worker|rank", "rank", "pid", "parent_pid", "host", "python",
#    "argv", "started_realtime_ns", "process_start_realtime_ns", "ticks_per_ns", "event_cost_ticks",
#    "exit_cost_ticks", "call_cost_ticks", "status": "running|ended|stopped", "ended_ticks"}
#   process_start: when the kernel started the process, before the interpreter was up
#   ticks_per_ns: the clock's rate as measured at start, for a process too short for two triples
#   event_cost_ticks / exit_cost_ticks: what one line event / one exit event costs here, measured
#   at start (floats); call_cost_ticks: what counting one call costs (0 without --calls)
#   status "stopped": recording stopped before the process ended (--stop-after, Profiler);
#   still "running" in a process that is gone: it was killed; ended_ticks is null then
#   of an imported run also {"trace": the file beside it, "trace_shift_ns": to add to its times, so
#   that all ranks have one clock}; a tick is then a nanosecond of Unix time

# run.json:
#   {"format", "command": [...], "cwd", "script", "started_realtime_ns", "machine": {"host",
#    "system", "cpu", "cpu_features": [its vectors and matrix units, "avx2"] | null, "cores",
#    "memory_bytes", "container_memory_bytes", "container_cores"},
#    "versions": {"stepscope", "python", ...}, "git": {"commit", "dirty"} | null,
#    "options": RecordOptions as an object, "launcher": {...} | null,
#    "copied_from": {folder: original} of runs in a copy,
#    "imported_from": [file] of runs that other tools recorded}

# system.jsonl, a line for each look of the supervisor:
#   {"realtime_ns", "monotonic_ns", "load", "cpu_ns", "container_cpu_ns", "memory_available_bytes",
#    "container_memory_bytes", "container_limit_bytes", "devices": [...], "waited_ns": {pid: ns}}
#   cpu_ns: used by all programs since the machine started, on the cores that the run may use;
#   container_cpu_ns: by the control group with the tightest limit of cores, null without a limit
#   waited_ns: how long all living threads of a process of the run were ready but had no core

# supervisor.json:
#   {"pid", "exit_status", "signal", "started_monotonic_ns", "ended_monotonic_ns",
#    "ended_realtime_ns", "float64_ratio"}     exit_status null when signal is set
#   float64_ratio: how many times as long a matrix product takes in 64 bits as in 32, measured after
#   the script's end, if operators were recorded
