"""speedscope's JSON: the stacks of each thread over time, for https://www.speedscope.app."""

from importlib.metadata import version
from typing import Any, Final

import msgspec

from stepscope.analyze.code.sampled_threads import Frame, SampledThread
from stepscope.analyze.run import Run
from stepscope.show.exporters.threads import threads_of

OPEN_WITH: Final = "https://www.speedscope.app, or: npx speedscope {path}"
SUFFIX: Final = "speedscope.json"
SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"
_JITTER_NS: Final = 1_000  # between the end of a sample and the start of the next, due to rounding


class _Frames:
    """The functions of all threads, each once."""

    def __init__(self) -> None:
        self._numbers: dict[Frame, int] = {}
        self.described: list[dict[str, Any]] = []

    def number(self, frame: Frame) -> int:
        number = self._numbers.get(frame)
        if number is None:
            number = self._numbers[frame] = len(self.described)
            place = {} if frame.file is None else {"file": frame.file, "line": frame.line}
            self.described.append({"name": frame.name, **place})
        return number


def export(run: Run, *, process: int | None = None) -> bytes:
    """One profile per thread of one process, the main thread first."""
    threads = threads_of(run, process)
    frames = _Frames()
    began_ns = min(thread.began_ns for thread in threads)
    profiles = [_profile(thread, frames, began_ns) for thread in threads]
    return msgspec.json.encode(
        {
            "$schema": SCHEMA,
            "exporter": f"stepscope@{version('stepscope')}",  # "name@version" is what it wants
            "name": run.path.resolve().name,
            "activeProfileIndex": 0,
            "shared": {"frames": frames.described},
            "profiles": profiles,
        }
    )


def _profile(thread: SampledThread, frames: _Frames, began_ns: int) -> dict[str, Any]:
    """Times when the thread was not seen are samples with an empty stack, so threads line up."""
    samples: list[list[int]] = []
    weights: list[int] = []
    at_ns = thread.began_ns
    for stack, start_ns, weight_ns in thread.looks():
        if start_ns - at_ns > _JITTER_NS:
            samples.append([])
            weights.append(start_ns - at_ns)
            at_ns = start_ns
        samples.append([frames.number(frame) for frame in stack])
        weights.append(weight_ns)
        at_ns += weight_ns
    return {
        "type": "sampled",
        "name": thread.name or f"thread {thread.id}",
        "unit": "nanoseconds",
        "startValue": thread.began_ns - began_ns,
        "endValue": at_ns - began_ns,
        "samples": samples,
        "weights": weights,
    }
