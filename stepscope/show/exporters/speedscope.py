"""speedscope's JSON: the stacks of each thread over time, for https://www.speedscope.app."""

from typing import TYPE_CHECKING, Any, Final

import msgspec

from stepscope.show.exporters.threads import seen_threads

if TYPE_CHECKING:
    from stepscope.analyze.code.sampled_stacks import Seen, Stacks
    from stepscope.store.reader import Run
    from stepscope.store.records import FunctionName

OPEN_WITH: Final = "https://www.speedscope.app, or: npx speedscope {path}"
SUFFIX: Final = "speedscope.json"
SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"
_JITTER_NS: Final = 1_000  # between the end of a sample and the start of the next, by rounding


class _Frames:
    """The functions of all threads, each once."""

    def __init__(self, run: "Run") -> None:
        self._run = run
        self._numbers: dict[FunctionName, int] = {}
        self.described: list[dict[str, Any]] = []

    def number(self, function: "FunctionName") -> int:
        number = self._numbers.get(function)
        if number is None:
            number = self._numbers[function] = len(self.described)
            self.described.append(self._describe(function))
        return number

    def _describe(self, function: "FunctionName") -> dict[str, Any]:
        from stepscope.analyze.run import shown_path

        if function.native:
            return {"name": function.name}
        file = shown_path(self._run, function.file)
        return {"name": function.name, "file": file, "line": function.line}


def export(run: "Run", *, process: int | None = None) -> bytes:
    """One profile a thread of one process, the main thread first."""
    threads = seen_threads(run, process)
    frames = _Frames(run)
    began_ns = min(int(seen.start_ns[0]) for _, seen in threads)
    profiles = [_profile(found, seen, frames, began_ns) for found, seen in threads]
    return msgspec.json.encode(
        {
            "$schema": SCHEMA,
            "exporter": "stepscope",
            "name": run.path.resolve().name,
            "activeProfileIndex": 0,
            "shared": {"frames": frames.described},
            "profiles": profiles,
        }
    )


def _profile(found: "Stacks", seen: "Seen", frames: _Frames, began_ns: int) -> dict[str, Any]:
    """Times when the thread was not seen are samples of no stack, so that threads line up."""
    samples: list[list[int]] = []
    weights: list[int] = []
    at_ns = int(seen.start_ns[0])
    rows = zip(seen.nodes.tolist(), seen.start_ns.tolist(), seen.weight_ns.tolist(), strict=True)
    for node, start_ns, weight_ns in rows:
        if start_ns - at_ns > _JITTER_NS:
            samples.append([])
            weights.append(start_ns - at_ns)
            at_ns = start_ns
        samples.append([frames.number(function) for function in found.stack(node)])
        weights.append(weight_ns)
        at_ns += weight_ns
    return {
        "type": "sampled",
        "name": seen.thread.name or f"thread {seen.thread.id}",
        "unit": "nanoseconds",
        "startValue": int(seen.start_ns[0]) - began_ns,
        "endValue": at_ns - began_ns,
        "samples": samples,
        "weights": weights,
    }
