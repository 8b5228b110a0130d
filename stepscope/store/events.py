"""Events as tables: one class per kind, with columns named by their meaning.

`format.py` says which field holds what; they are unpacked only here. A column is a view of the
records, or is computed when first used.
"""

import functools
from typing import ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from stepscope.clock import Clock, Ints
from stepscope.store import format as fmt
from stepscope.store.columns import Columns, Selection
from stepscope.store.format import EventKind, SpanCategory

Ids = npt.NDArray[np.uint32]
Counts = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

MOST_SAMPLES: Final = 2**40  # more is damage, also for other counts
_MOST_BYTES: Final = 2**50
_MOST_IDS: Final = 2**31
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)


class Events:
    """Some events of one kind; index with a mask, indices or a slice to select."""

    kind: ClassVar[EventKind]

    def __init__(self, records: Columns, clock: Clock, end_ns: int) -> None:
        """`end_ns`: when the process ended."""
        self._records, self._clock, self._end_ns = records, clock, end_ns

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, chosen: Selection) -> Self:
        if not isinstance(chosen, slice) and chosen.dtype == np.bool_ and chosen.all():
            return self  # of millions of events, a copy takes a hundred megabytes
        return type(self)(self._records.only(chosen), self._clock, self._end_ns)

    def _id(self, field: str) -> Ids:
        column: Ids = self._records[field]
        return column

    def _number(self, field: str) -> Counts:
        column: Counts = self._records[field]
        return column

    @property
    def name(self) -> Ids:
        """An id in names.jsonl, 0: none."""
        return self._id("name")

    @property
    def thread(self) -> Ids:
        return self._id("thread")

    def on(self, thread: int) -> Self:
        return self[self.thread == thread]

    def by_start(self) -> Self:
        """In order of time."""
        start = self._number("start")
        if (start[1:] >= start[:-1]).all():
            return self
        return self[np.argsort(start, kind="stable")]


class Moments(Events):
    """Events without a duration."""

    @functools.cached_property
    def at_ns(self) -> Ints:
        return self._clock.ns(self._number("start"))


class Stretches(Events):
    """Events that begin and end; those still open end with the process."""

    @functools.cached_property
    def start_ns(self) -> Ints:
        return self._clock.ns(self._number("start"))

    @functools.cached_property
    def end_ns(self) -> Ints:
        end = np.where(self.has_ended, self._clock.ns(self._number("end")), self._end_ns)
        return np.maximum(self.start_ns, end)

    @property
    def interval_ns(self) -> tuple[Ints, Ints]:
        return self.start_ns, self.end_ns

    @property
    def has_ended(self) -> Mask:
        mask: Mask = self._number("end") != 0
        return mask

    @property
    def is_dropped(self) -> Mask:
        """It was cancelled: it has no duration."""
        mask: Mask = self._number("end") == self._number("start")
        return mask

    @property
    def is_done(self) -> Mask:
        """It ended, and took time."""
        return self._number("end") > self._number("start")


class Spans(Stretches):
    """A column that does not apply to a span's category is 0."""

    kind = EventKind.SPAN

    @property
    def category(self) -> Ids:
        """A SpanCategory."""
        return self._id("extra")

    def are(self, *categories: SpanCategory) -> Mask:
        return np.isin(self.category, categories)

    def of(self, *categories: SpanCategory) -> Self:
        return self[self.are(*categories)]

    def _value_of(self, categories: tuple[SpanCategory, ...], field: str, most: int) -> Ints:
        values = np.minimum(self._number(field), np.uint64(most)).astype(np.int64)
        return np.where(self.are(*categories), values, 0)

    @functools.cached_property
    def samples(self) -> Ints:
        """Samples in the batch that was fetched, passed forward or computed with; 0: not known."""
        fetched = self._value_of((SpanCategory.INPUT, SpanCategory.FORWARD), "value0", MOST_SAMPLES)
        given = self._number("value1") >> np.uint64(fmt.COMPUTE_SAMPLES_BIT)
        computed = np.minimum(given, np.uint64(MOST_SAMPLES)).astype(np.int64)
        return np.where(self.are(SpanCategory.COMPUTE), computed, fetched)

    @functools.cached_property
    def number(self) -> Ints:
        """Of the optimizer that steps, of the compiled function, or of the collective in its group;
        0: none."""
        numbered = (SpanCategory.OPTIMIZER, SpanCategory.COMPUTE, SpanCategory.COMMUNICATION)
        return self._value_of(numbered, "value0", MOST_SAMPLES)

    @property
    def updates(self) -> Mask:
        """Of compiled functions: it is known to update weights."""
        updates: Mask = (self._number("value1") & np.uint64(fmt.COMPUTE_UPDATES)) != 0
        return self.are(SpanCategory.COMPUTE) & updates

    @functools.cached_property
    def flags(self) -> Ints:
        """ForwardFlag or BackwardFlag of a pass."""
        return self._value_of((SpanCategory.FORWARD, SpanCategory.BACKWARD), "value1", _MOST_IDS)

    @functools.cached_property
    def group(self) -> Ints:
        """Of a collective: an id of kind "name"."""
        return self._value_of((SpanCategory.COMMUNICATION,), "value1", _MOST_IDS)

    @property
    def loader(self) -> Ints:
        """The number of the loader that was waited for or that a stage belongs to; 0: another
        input."""
        return self._loader >> fmt.LOADER_WORKERS_BITS

    @property
    def loader_workers(self) -> Ints:
        """How many that loader has."""
        return self._loader & (1 << fmt.LOADER_WORKERS_BITS) - 1

    @functools.cached_property
    def _loader(self) -> Ints:
        return self._value_of((SpanCategory.INPUT, SpanCategory.STAGE), "value1", 2**62)

    @functools.cached_property
    def without_core_ns(self) -> Ints:
        """Of writing a log or checkpoint: how long the thread was ready but had no core; 0: it had,
        or it is not known."""
        waits = (SpanCategory.LOGGING, SpanCategory.CHECKPOINT)
        waited = self._value_of(waits, "value0", 2**62)
        return np.where(self.is_done, np.minimum(waited, self.end_ns - self.start_ns), 0)

    @property
    def generation(self) -> Ints:
        """Of a garbage collection: from 1, the youngest, to 3, all objects; 0: not known."""
        return self._value_of((SpanCategory.GC,), "value0", _MOST_IDS)

    @property
    def freed_objects(self) -> Ints:
        """By a garbage collection."""
        return self._value_of((SpanCategory.GC,), "value1", 2**62)

    @property
    def worker_pid(self) -> Ints:
        """Of a stage "worker": the process that was started."""
        return self._value_of((SpanCategory.STAGE,), "value0", _MOST_IDS)


class Opens(Stretches):
    """Opened files; start and end are those of the activation that opened them."""

    kind = EventKind.OPEN

    @property
    def is_writing(self) -> Mask:
        mask: Mask = self._id("extra") == 1
        return mask

    @functools.cached_property
    def opened_at_ns(self) -> Ints:
        return self._clock.ns(self._number("value0"))


class Windows(Stretches):
    """Operator windows; the name is that of the file."""

    kind = EventKind.WINDOW

    @property
    def is_scripts(self) -> Mask:
        """By the script's own profiler."""
        mask: Mask = self._id("extra") != 0
        return mask


class Rests(Stretches):
    """Stretches of a long job in which events were left out."""

    kind = EventKind.REST

    @property
    def left_out(self) -> Counts:
        return self._number("value0")


class StepMarks(Moments):
    kind = EventKind.STEP

    @property
    def who(self) -> Ids:
        """A StepMark."""
        return self._id("extra")

    @property
    def samples(self) -> Ints:
        """Samples in the step; 0: not known."""
        return np.minimum(self._number("value0"), np.uint64(MOST_SAMPLES)).astype(np.int64)


class LossValues(Moments):
    """Losses of the training; the name says where they come from."""

    kind = EventKind.LOSS

    @functools.cached_property
    def value(self) -> npt.NDArray[np.float64]:
        return np.ascontiguousarray(self._number("value0")).view(np.float64)

    @property
    def is_running_mean(self) -> Mask:
        """Over the batches since the epoch began."""
        mask: Mask = (self._id("extra") & np.uint32(fmt.LossFlag.RUNNING_MEAN)) != 0
        return mask


class LoopStamps(Moments):
    """Each time the header of a loop was reached; the name is the loop's."""

    kind = EventKind.LOOP

    @property
    def activation(self) -> Counts:
        """The ticks at which it was entered, which identify it."""
        return self._number("end")

    @property
    def line_before(self) -> Ids:
        """0: none, or not known."""
        return self._id("extra")


class LineBegins(Moments):
    """In operator windows: a line began on a thread; the name is that of its code."""

    kind = EventKind.LINE_BEGINS

    @property
    def line(self) -> Ids:
        """0: not a line of the user's code."""
        return self._id("extra")


class CpuTimes(Moments):
    """Counters since the process began."""

    kind = EventKind.CPU

    @property
    def process_ns(self) -> Counts:
        return self._number("end")

    @property
    def thread_ns(self) -> Counts:
        """Of the thread that read the counters."""
        return self._number("value0")

    @property
    def voluntary_switches(self) -> Counts:
        return self._number("value1") >> _HALF

    @property
    def involuntary_switches(self) -> Counts:
        return self._number("value1") & _LOW_HALF


class Transfers(Moments):
    """Counters since the process began: input, output and page faults."""

    kind = EventKind.IO

    @property
    def read_bytes(self) -> Counts:
        return self._number("end")

    @property
    def written_bytes(self) -> Counts:
        return self._number("value0")

    @property
    def major_faults(self) -> Counts:
        """Page faults that waited for the disk."""
        return self._number("value1") & _LOW_HALF


class Memory(Moments):
    kind = EventKind.MEMORY

    @property
    def resident_bytes(self) -> Counts:
        return self._number("end")

    @property
    def peak_bytes(self) -> Counts:
        return self._number("value0")

    @property
    def mapped_bytes(self) -> Ints:
        """The resident bytes that belong to files or are shared; 0: not known."""
        return self._id("extra").astype(np.int64) << 10

    @property
    def is_plausible(self) -> Mask:
        """A larger value is damage."""
        return (self.resident_bytes < _MOST_BYTES) & (self.peak_bytes < _MOST_BYTES)

    @property
    def run_delay_ns(self) -> Counts:
        """How long the main thread was ready to run but had no core, so far."""
        return self._number("value1")


class Costs(Moments):
    """Our own work so far."""

    kind = EventKind.COST

    @property
    def slow_ticks(self) -> Counts:
        """In slow paths, measured."""
        return self._number("end")

    @property
    def line_events(self) -> Counts:
        return self._number("value0")

    @property
    def exit_events(self) -> Counts:
        """Resumes included."""
        return self._number("value1")

    @property
    def threads(self) -> Ids:
        """Of the process, those of libraries included; 0: not known."""
        return self._id("extra")
