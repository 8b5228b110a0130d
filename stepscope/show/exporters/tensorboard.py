"""A folder of operator windows for TensorBoard: one file per window.

TensorFlow's and JAX's files go unchanged to where the profile plugin (xprof) looks for them.
Torch's are for torch_tb_profiler, which only knows the names of torch 1.9. Newer traces use
`cuda_runtime` and `fwdbwd` and have the loader's waits as annotations, and our traces have no steps
of a schedule: unchanged, the plugin would show none of these.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from stepscope.analyze.run import Run
from stepscope.analyze.timeline.traced_windows import TracedWindow, traced_windows
from stepscope.errors import InputError
from stepscope.show.exporters import trace_events as to
from stepscope.show.exporters.folder import MANIFEST
from stepscope.show.exporters.tables import Files
from stepscope.show.selection import only

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
_APART_NS: Final = 1  # the plugin adds floats: adjacent steps would overlap there
_NO_OPERATORS: Final = (
    "The script used neither torch nor TensorFlow nor JAX, ended before its sixth step, or ran "
    "with --ops off. Record them with 'stepscope run --ops all'."
)


def export(run: Run, *, process: int | None = None) -> Files:
    """Every rank, or only the given process."""
    found = list(traced_windows(only(run, process=process)))
    readable = [each for each in found if isinstance(each, TracedWindow)]
    unread = [each for each in found if isinstance(each, str)]
    if not readable:
        reason = " ".join(unread) or _NO_OPERATORS
        raise InputError(f"'{run.path}' has no operators to export. {reason}")
    return _files(readable, unread)


def _files(found: list[TracedWindow], unread: list[str]) -> Files:
    counts: dict[str, int] = {}
    for window in found:
        profile = window.profile()
        if profile is not None:
            name = _profile_name(window)
            yield name, profile
            counts[name] = 0
            continue
        events = _Events(window)
        name = _file_name(window)
        kept = {key: value for key, value in window.head.items() if key != "traceEvents"}
        yield name, b"".join(to.document(kept, window.began_unix_ns, events))
        counts[name] = events.count
    about = {"exported_by": "stepscope", "rows": counts, "notes": [to.text(n) for n in unread]}
    yield MANIFEST, msgspec.json.format(msgspec.json.encode(about)) + b"\n"


def _file_name(window: TracedWindow) -> str:
    """Named like torch's own handler does: host, process, time, suffix."""
    host = re.sub(r"[^\w.-]", "_", window.host) or "host"
    return f"{host}_{window.pid}.{window.began_unix_ns}.pt.trace.json"


def _profile_name(window: TracedWindow) -> str:
    """One run of the plugin per window, with one host per process."""
    number = re.sub(r"\D", "", window.path.name.partition(".")[0]) or "0"
    host = re.sub(r"[^\w-]", "_", window.host) or "host"
    return f"plugins/profile/window_{number}/{host}_{window.pid}.xplane.pb"


class _Events:
    """The window's events, plus our steps if it has none. Times are relative to its start."""

    def __init__(self, window: TracedWindow) -> None:
        self._window = window
        self.count = 0

    def __iter__(self) -> Iterator[to.Event]:
        began_ns = self._window.began_unix_ns
        has_steps = False
        for event, at_ns, lasted_ns in self._window.events():
            event["ts"] = to.us(at_ns - began_ns)
            if event.get("ph") == "X":
                event["dur"] = to.us(lasted_ns)
                has_steps |= str(event.get("name")).startswith(_STEP)
            self.count += 1
            yield _in_old_words(event)
        if not has_steps:
            yield from self._steps()

    def _steps(self) -> Iterator[to.Event]:
        window = self._window
        for number, start_ns, lasted_ns in window.steps():
            self.count += 1
            yield to.complete(
                f"{_STEP}{number}", "user_annotation", window.pid, window.native_thread, start_ns,
                lasted_ns - _APART_NS, {},
            )  # fmt: skip


def _in_old_words(event: to.Event) -> to.Event:
    category = event.get("cat")
    if category in _WORDS:
        event["cat"] = _WORDS[category]
    elif category == "user_annotation" and str(event.get("name")).startswith(_LOADER):
        event["cat"] = "cpu_op"
    return event
