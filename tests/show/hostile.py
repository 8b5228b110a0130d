"""A run in which every name is crafted to be taken for code."""

from pathlib import Path

from build import CWD, MS, RunBuilder
from stepscope.store.events import Memory
from stepscope.store.format import SpanCategory

MARK = "window.__hacked=1"
NAME = (
    f"</script><script>{MARK}</script><img src=x onerror={MARK}>\"'`&amp;<!--\u202eabc\u2066"
    f"\x1b[31m\x07${{{MARK}}}]]>"
)
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
