"""A run and a trace in which every name is crafted to be taken for code."""

import json
from pathlib import Path
from typing import Any

from build import CWD, MS, RunBuilder
from stepscope.store.events import Memory
from stepscope.store.format import SpanCategory

MARK = "window.__hacked=1"
NAME = (
    f"</script><script>{MARK}</script><img src=x onerror={MARK}>\"'`&amp;<!--\u202eabc\u2066"
    f"\x1b[31m\x07${{{MARK}}}]]>"
    "\x1b]0;title\x07\x9b31m\x7f\r\u061c\u2067\u200f\u200e"
)
HALF = "\ud83d"  # of a character: no stream can write it
SOURCE = f"""\
def train():  # </script><script>{MARK}</script>
    text = "<img src=x onerror={MARK}>"
    for batch in data:  # \u202e reversed
        step("</style><style>*{{display:none}}</style>")
"""


def hostile_run(path: Path) -> Path:
    """Twenty steps of 5 ms; files, functions, threads, regions, notes and commands are hostile."""
    run = RunBuilder(path, command=[NAME, "--x", NAME], script=NAME, versions={NAME: NAME})
    process = run.process(argv=[NAME])
    file = process.file(f"{CWD}/{NAME}.py", SOURCE)
    code = process.code(f"train{NAME}", file=file)
    loop = process.loop(code, 3, 4)
    end_ns = process.for_loop(loop, 10 * MS, [5 * MS] * 20)
    process.lines(code, 1, [(1, 0), (1, 2 * MS), (21, MS), (20, 95 * MS)])
    process.span(SpanCategory.REGION, 12 * MS, 14 * MS, name=NAME)
    opened = process.name("open", path=f"/data/{NAME}", code=code, line=4)
    process.opened(opened, 20 * MS, 24 * MS)
    process.counter(Memory, 15 * MS, resident_bytes=2**28, peak_bytes=2**28)
    process.counter(Memory, 90 * MS, resident_bytes=2**29, peak_bytes=2**29)
    thread = process.thread(NAME)
    function = process.function(NAME, file=f"{CWD}/{NAME}.py")
    node = process.node(function)
    process.sample(node, 10 * MS, 50 * MS, count=5)
    process.sample(node, 10 * MS, 50 * MS, count=5, thread=thread)
    root = process.root()
    process.call(root, function, 3, 40 * MS)
    process.name("note", text=NAME, severity="warning")
    process.write(ended_ns=end_ns + MS)
    run.supervisor(ended_ns=end_ns + MS)
    return path


def hostile_trace(path: Path) -> Path:
    """Of torch, with a device: steps, operators, kernels, copies, threads and files."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": each, "pid": 7, "tid": 7, "args": {"name": NAME, "labels": NAME}}
        for each in ("process_name", "thread_name", "process_labels")
    ]
    for number in range(6):
        start = 1000 + 1000 * number
        asked = {"External id": number, "correlation": number, "Input Dims": [[NAME]]}
        on_device = {"External id": number, "correlation": number, "device": 0, "stream": 7}
        events += [
            _event(f"ProfilerStep#{number}", "user_annotation", start, 950),
            _event(NAME, "user_annotation", start + 5, 900),
            _event(NAME + HALF, "cpu_op", start + 10, 100, args=asked),
            _event(f"/x/{NAME}.py(3): {NAME}", "python_function", start + 8, 300),
            _event("cudaLaunchKernel", "cuda_runtime", start + 20, 10, args=asked),
            _event(NAME, "kernel", start + 40, 400, pid=0, tid=7, args=on_device),
            _event(f"Memcpy HtoD {NAME}", "gpu_memcpy", start + 500, 50, pid=0, tid=7,
                   args=on_device),
        ]  # fmt: skip
    path.write_text(json.dumps({"deviceProperties": [{"name": NAME}], "traceEvents": events}))
    return path


def _event(name: str, kind: str, start_us: int, lasted_us: int, **fields: Any) -> dict[str, Any]:
    base = {"ph": "X", "cat": kind, "name": name, "pid": 7, "tid": 7, "args": {}}
    return base | {"ts": start_us, "dur": lasted_us} | fields
