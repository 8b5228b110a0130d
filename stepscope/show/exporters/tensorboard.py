"""A folder of operator windows as TensorBoard reads them: one file a window.

TensorFlow's and JAX's lie where the profile plugin (xprof) looks for them, as they were recorded.
Torch's are for torch_tb_profiler, which knows the words of torch 1.9. Newer traces say
`cuda_runtime` and `fwdbwd`, have the loader's waits as annotations, and ours have no steps of a
schedule: it would show none of these.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from stepscope.errors import InputError
from stepscope.show.exporters import trace_events as to
from stepscope.show.exporters.folder import MANIFEST
from stepscope.show.exporters.tables import Files
from stepscope.show.selection import only

if TYPE_CHECKING:
    from stepscope.analyze.traces.windows import Window
    from stepscope.store.reader import ProcessData, Run

OPEN_WITH: Final = (
    "tensorboard --logdir {path} (needs torch_tb_profiler; for TensorFlow and JAX, xprof)"
)
_STEP: Final = "ProfilerStep#"
_LOADER: Final = "enumerate(Data"
_WORDS: Final = {
    "cuda_runtime": "Runtime",
    "cuda_driver": "Runtime",
    "xpu_runtime": "Runtime",
    "xpu_driver": "Runtime",
    "fwdbwd": "forward_backward",
}
_LEAST_LEFT: Final = 0.5  # of the shortest step: a window is closed in its last one, which counts
_APART_NS: Final = 1  # the plugin adds floats: steps that touch would overlap there
_NO_OPERATORS: Final = (
    "The script used neither torch nor TensorFlow nor JAX, ended before its sixth step, or ran "
    "with --ops off. Record them with 'stepscope run --ops all'."
)


def export(run: "Run", *, process: int | None = None) -> Files:
    """Of every rank, or of the process asked for."""
    from stepscope.analyze.traces.events import trace_head
    from stepscope.analyze.traces.windows import windows

    chosen = only(run, process=process)
    heads = [(each, w, trace_head(w)) for each in chosen.processes for w in windows(each)]
    readable = [(each, w, head) for each, w, head in heads if isinstance(head, dict)]
    unread = [head for _, _, head in heads if isinstance(head, str)]
    if not readable:
        reason = " ".join(unread) or _NO_OPERATORS
        raise InputError(f"'{run.path}' has no operators to export. {reason}")
    return _files(chosen, readable, unread)


def _files(
    run: "Run", found: list[tuple["ProcessData", "Window", dict[str, Any]]], unread: list[str]
) -> Files:
    from stepscope.analyze.traces.events import profile_of

    counts: dict[str, int] = {}
    for process, window, head in found:
        profile = profile_of(window)
        if profile is not None:
            name = _profile_name(process, window)
            yield name, profile
            counts[name] = 0
            continue
        events = _Events(run, process, window)
        name = _file_name(process, events.began_ns)
        kept = {key: value for key, value in head.items() if key != "traceEvents"}
        yield name, b"".join(to.document(kept, events.began_ns, events))
        counts[name] = events.count
    about = {"exported_by": "stepscope", "rows": counts, "notes": [to.text(n) for n in unread]}
    yield MANIFEST, msgspec.json.format(msgspec.json.encode(about)) + b"\n"


def _file_name(process: "ProcessData", began_ns: int) -> str:
    """As torch's own handler names it: host and process, when, and the ending."""
    host = re.sub(r"[^\w.-]", "_", process.info.host) or "host"
    return f"{host}_{process.info.pid}.{began_ns}.pt.trace.json"


def _profile_name(process: "ProcessData", window: "Window") -> str:
    """One run of the plugin a window, with a host for each process."""
    number = re.sub(r"\D", "", window.path.name.partition(".")[0]) or "0"
    host = re.sub(r"[^\w-]", "_", process.info.host) or "host"
    return f"plugins/profile/window_{number}/{host}_{process.info.pid}.xplane.pb"


class _Events:
    """The window's own, with our steps where it has none. Times count from where it began."""

    def __init__(self, run: "Run", process: "ProcessData", window: "Window") -> None:
        self._run, self._process, self._window = run, process, window
        self.began_ns = process.clock.wall_ns(window.start_ns or 0)
        self.count = 0

    def __iter__(self) -> Iterator[to.Event]:
        from stepscope.analyze.traces.events import unix_events

        has_steps = False
        for event, at_ns, lasted_ns in unix_events(self._window):
            event["ts"] = to.us(at_ns - self.began_ns)
            if event.get("ph") == "X":
                event["dur"] = to.us(lasted_ns)
                has_steps |= str(event.get("name")).startswith(_STEP)
            self.count += 1
            yield _in_old_words(event)
        if not has_steps:
            yield from self._steps()

    def _steps(self) -> Iterator[to.Event]:
        from stepscope.analyze.steps.find_steps import find_steps

        begin, end = self._window.start_ns, self._window.end_ns
        steps = find_steps(self._run, self._process)
        if begin is None or end is None or not len(steps):
            return
        start_ns, end_ns = np.maximum(steps.start_ns, begin), np.minimum(steps.end_ns, end)
        left_ns = end_ns - start_ns
        is_whole = left_ns == steps.duration_ns
        kept = is_whole | (left_ns > _LEAST_LEFT * steps.duration_ns.min())
        thread = self._thread(steps.thread)
        for index in np.flatnonzero(kept).tolist():
            self.count += 1
            lasted_ns = int(left_ns[index]) - _APART_NS
            yield to.complete(
                f"{_STEP}{index + 1}", "user_annotation", self._process.info.pid, thread,
                int(start_ns[index]) - begin, lasted_ns, {},
            )  # fmt: skip

    def _thread(self, thread: int) -> int:
        known = self._process.names.threads.get(thread)
        return (known.native_id if known else None) or self._process.info.pid


def _in_old_words(event: to.Event) -> to.Event:
    category = event.get("cat")
    if category in _WORDS:
        event["cat"] = _WORDS[category]
    elif category == "user_annotation" and str(event.get("name")).startswith(_LOADER):
        event["cat"] = "cpu_op"
    return event
