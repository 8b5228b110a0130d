"""Draws the two pictures of how-it-works.md: a step's time and an operator, from hook to page.

`python docs/drawings.py` writes them. A test checks that they are up to date and that every file
they name exists.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

DOCS: Final = Path(__file__).parent

WIDE: Final = 1000
TOP: Final = 84  # where the first boxes begin
GAP: Final = 26  # between boxes: room for an arrow
TITLE_HIGH, ROW_HIGH, PAD = 34, 40, 10

STYLE: Final = """
  svg { --card: #ffffff; --ink: #1f2328; --faint: #59636e; --line: #818b98;
        --process: #ddf4ff; --disk: #fff8c5; --other: #dafbe1; }
  @media (prefers-color-scheme: dark) {
    svg { --card: #0d1117; --ink: #f0f6fc; --faint: #b1bac4; --line: #6e7681;
          --process: #11304f; --disk: #3f3410; --other: #12381f; }
  }
  text { fill: var(--ink); font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
  .head { font-size: 15px; font-weight: 600; }
  .title { font-size: 14px; font-weight: 600; }
  .path { font: 12.5px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
  .faint { fill: var(--faint); }
  .box { stroke: var(--line); }
  .card { fill: var(--card); }
  .process { fill: var(--process); }
  .disk { fill: var(--disk); }
  .other { fill: var(--other); }
  .arrow { fill: none; stroke: var(--line); stroke-width: 2; marker-end: url(#tip); }
  #tip path { fill: var(--line); }
"""


@dataclasses.dataclass(frozen=True)
class Box:
    """What happens, and where: each row is a file or folder and what it does."""

    title: str
    rows: tuple[tuple[str, str], ...]

    @property
    def high(self) -> int:
        return TITLE_HIGH + ROW_HIGH * len(self.rows) + PAD


@dataclasses.dataclass(frozen=True)
class Lane:
    """A column of boxes, one after the other."""

    head: str
    colour: str
    left: int
    wide: int
    boxes: tuple[Box, ...]
    down: int = 0  # how far below the others it begins

    def tops(self) -> list[int]:
        tops = [TOP + self.down]
        for box in self.boxes:
            tops.append(tops[-1] + box.high + GAP)
        return tops[:-1]

    @property
    def bottom(self) -> int:
        return self.tops()[-1] + self.boxes[-1].high


@dataclasses.dataclass(frozen=True)
class Drawing:
    name: str
    title: str
    process: tuple[Box, ...]
    disk: Box  # its rows are files of the run folder
    disk_down: int
    writers: tuple[int, ...]  # the boxes of the process that write to it
    other: tuple[Box, ...]

    def lanes(self) -> tuple[Lane, Lane, Lane]:
        return (
            Lane("your process", "process", 16, 330, self.process),
            Lane("on disk: the run folder", "disk", 386, 218, (self.disk,), self.disk_down),
            Lane("another process", "other", 644, 340, self.other),
        )


STEP: Final = Drawing(
    name="step-to-page.svg",
    title="A step's time, from the hook to the page",
    process=(
        Box(
            "1  Hooks go in",
            (
                ("record/recording.py", "switches everything on"),
                ("record/frameworks/torch/passes.py", "C callables where torch calls each step"),
            ),
        ),
        Box(
            "2  Something happens",
            (
                ("native/wrappers/optimizers.c", "an optimizer steps: a span"),
                ("native/lines/lines.c", "a loop turns: a stamp; a line runs: a count"),
            ),
        ),
        Box("3  The clock is read", (("native/clock/clock.h", "the CPU's counter: ticks"),)),
        Box("4  A record is written", (("native/interpreter/events.c", "48 bytes, the tag last"),)),
    ),
    disk=Box(
        "5  Mapped files",
        (
            ("events.bin", "spans, stamps, counters"),
            ("lines.bin", "hits and ticks by line"),
            ("names.jsonl", "what the numbers stand for"),
        ),
    ),
    disk_down=352,
    writers=(3,),
    other=(
        Box(
            "6  Bytes become columns",
            (
                ("store/reader.py", "opens the run; clock.py makes nanoseconds"),
                ("store/events.py", "a table per kind of event, named columns"),
            ),
        ),
        Box(
            "7  Steps are found",
            (("analyze/steps/find_steps.py", "by mark, batch, optimizer or loop"),),
        ),
        Box(
            "8  Their time is divided",
            (("analyze/phases/step_phases.py", "phases that sum to the step"),),
        ),
        Box(
            "9  The answer",
            (
                ("analyze/answers/steps.py", "what show steps --json prints"),
                ("advise/findings.py", "evidence, gain, rules: what to change"),
            ),
        ),
        Box(
            "10  It is shown",
            (
                ("views/steps.py", "connects question, answer and drawing"),
                ("show/terminal/steps.py", "as text"),
                ("show/report/content.py", "as data in report.html"),
                ("web/src/pages/steps.tsx", "as a bar per step"),
            ),
        ),
    ),
)

OPERATOR: Final = Drawing(
    name="operator-to-page.svg",
    title="An operator, from the framework's profiler to the page",
    process=(
        Box(
            "1  A window is due",
            (
                ("record/steps/step_counter.py", "counts steps while they happen"),
                ("record/frameworks/windows/schedule.py", "which steps, for all frameworks"),
            ),
        ),
        Box(
            "2  It opens",
            (
                ("record/frameworks/torch/windows.py", "asks the schedule at each step"),
                ("record/frameworks/torch/window.py", "starts and stops torch's own profiler"),
            ),
        ),
        Box(
            "3  Lines are logged", (("native/lines/line_log.c", "when each line of yours begins"),)
        ),
    ),
    disk=Box(
        "4  Trace and line log",
        (
            ("ops-1.json", "the trace, as torch writes it"),
            ("ops-1.xplane.pb", "TensorFlow's or JAX's instead"),
            ("events.bin", "the window, and the log"),
        ),
    ),
    disk_down=188,
    writers=(1, 2),
    other=(
        Box(
            "5  The trace is read",
            (
                ("importers/importer.py", "which format it is; all end in one form"),
                ("importers/kineto/", "torch's JSON, with native/traces/ in C"),
                ("importers/xplane/", "TensorFlow's and JAX's"),
            ),
        ),
        Box(
            "6  Operators are nested",
            (
                ("analyze/traces/windows.py", "which windows, and what they slowed"),
                ("analyze/traces/operator_tree.py", "what is inside what: own time"),
            ),
        ),
        Box(
            "7  Each gets its line",
            (("analyze/traces/operator_lines.py", "joined with the log on time and thread"),),
        ),
        Box(
            "8  The answer",
            (("analyze/operators/operators.py", "what show ops --json prints"),),
        ),
        Box(
            "9  It is shown",
            (
                ("views/ops.py", "connects question, answer and drawing"),
                ("show/terminal/ops.py", "as text, in torch's columns"),
                ("show/report/content.py", "as data in report.html"),
                ("web/src/pages/operators.tsx", "as a table with lines"),
            ),
        ),
    ),
)

DRAWINGS: Final = (STEP, OPERATOR)


def text(x: int, y: int, words: str, kind: str = "") -> str:
    css = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{css}>{escape(words)}</text>'


def arrow(*points: tuple[int, int]) -> str:
    way = " L".join(f"{x} {y}" for x, y in points)
    return f'<path class="arrow" d="M{way}"/>'


def draw_box(lane: Lane, box: Box, top: int) -> Iterator[str]:
    yield (
        f'<rect class="box {lane.colour}" x="{lane.left}" y="{top}" width="{lane.wide}" '
        f'height="{box.high}" rx="8"/>'
    )
    yield text(lane.left + 14, top + 23, box.title, "title")
    for number, (path, words) in enumerate(box.rows):
        y = top + TITLE_HIGH + ROW_HIGH * number + 11
        yield text(lane.left + 14, y, path, "path")
        yield text(lane.left + 14, y + 17, words, "faint")


def draw_lane(lane: Lane) -> Iterator[str]:
    middle = lane.left + lane.wide // 2
    yield text(lane.left, TOP - 16, lane.head, "head faint")
    tops = lane.tops()
    for box, top in zip(lane.boxes, tops, strict=True):
        yield from draw_box(lane, box, top)
    for box, top, following in zip(lane.boxes, tops, tops[1:], strict=False):
        yield arrow((middle, top + box.high), (middle, following - 4))


def draw_ways(process: Lane, disk: Lane, other: Lane, writers: tuple[int, ...]) -> Iterator[str]:
    """From the boxes that write to the disk, and from there to the first box that reads."""
    for number in writers:
        y = process.tops()[number] + process.boxes[number].high // 2
        yield arrow((process.left + process.wide, y), (disk.left - 4, y))
    leaves, enters = disk.tops()[0] + 24, other.tops()[0] + other.boxes[0].high // 2
    between = (disk.left + disk.wide + other.left) // 2
    yield arrow(
        (disk.left + disk.wide, leaves), (between, leaves), (between, enters),
        (other.left - 4, enters),
    )  # fmt: skip


def svg_of(drawing: Drawing) -> str:
    lanes = drawing.lanes()
    high = max(lane.bottom for lane in lanes) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high}" width="{WIDE}" '
        f'height="{high}" role="img">',
        f"<title>{escape(drawing.title)}</title>",
        f"<style>{STYLE}</style>",
        '<marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="5" markerHeight="5" '
        'orient="auto"><path d="M0 0 L8 4 L0 8 Z"/></marker>',
        f'<rect width="{WIDE}" height="{high}" rx="10" class="card"/>',
        text(16, 34, drawing.title, "head"),
        *(part for lane in lanes for part in draw_lane(lane)),
        *draw_ways(*lanes, drawing.writers),
    ]
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    for drawing in DRAWINGS:
        (DOCS / drawing.name).write_text(svg_of(drawing))


if __name__ == "__main__":
    main()
