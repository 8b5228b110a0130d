"""The page layout of every view: consoles, headings, tables, notes, places in the source."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from stepscope.show.terminal.drawing.numbers import NOTHING, counted
from stepscope.spelled_out import spelled_out

if TYPE_CHECKING:
    from stepscope.model import Location, Process

HEADING: Final = "bold"
FAINT: Final = "dim"
CODE: Final = "cyan"
WARNING: Final = "yellow"
WIDEST: Final = 100  # columns further apart than this are hard to follow by eye

_LABEL_WIDTH: Final = 13


class Terminal(Console):
    """Shows names as text: rich would pass on the control sequences in them. Each part is spelled
    out before it is fitted into its column."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else spelled_out(segment.text)
            yield segment if shown == segment.text else Segment(shown, segment.style)


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """Colours only on a terminal (and not with NO_COLOR); 80 columns without one."""
    return Terminal(stderr=stderr, width=width, highlight=False, emoji=False, markup=False)


def print_view(view: RenderableType, *, stderr: bool = False) -> None:
    """Print a view; in a pipe or file nothing is cut off on the right."""
    out = console(stderr=stderr)
    out.print(view, crop=out.is_terminal)
    (sys.stderr if stderr else sys.stdout).flush()


def heading(words: str, aside: str = "") -> Text:
    text = Text(words, style=HEADING)
    if aside:
        text.append("  " + aside, style=FAINT)
    return text


def columns(*specs: tuple[str, str], header: bool = True) -> Table:
    """A table without lines. A spec is (title, "left" | "right" | "label" | "name" | "fill"):
    labels are equally wide in all tables of a page, names (from `name`) are cut if there is
    little room, "fill" takes the remaining room."""
    table = Table(
        box=None,
        show_header=header,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style=FAINT,
        expand=any(kind == "fill" for _, kind in specs),
    )
    for title, kind in specs:
        table.add_column(
            title,
            justify="right" if kind == "right" else "left",
            no_wrap=kind != "name",
            overflow="ellipsis",
            ratio=1 if kind == "fill" else None,
            min_width=_LABEL_WIDTH if kind == "label" else None,
        )
    return table


def figures(cells: Sequence[tuple[str, str]]) -> Table:
    """(title, figure) side by side, each title above its figure."""
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_row(*(Text(title, style=FAINT) for title, _ in cells))
    table.add_row(*(Text(figure, style=HEADING) for _, figure in cells))
    return table


def name(words: str, style: str = "") -> Text:
    return Text(words, style=style, no_wrap=True, overflow="ellipsis")


def indented(view: RenderableType, *, left: int = 2) -> Padding:
    return Padding(view, (0, 0, 0, left), expand=False)


def notes_block(notes: Sequence[str]) -> list[RenderableType]:
    """Notes as a list, or nothing."""
    if not notes:
        return []
    rows = Table.grid(padding=(0, 1))
    for note in dict.fromkeys(notes):
        rows.add_row(Text("!", style=WARNING), Text(note))
    return [Text(""), heading("Notes"), indented(rows)]


def more(total: int, shown: int, noun: str, plural: str | None = None) -> list[RenderableType]:
    """Says what --top left out, if anything."""
    if shown >= total:
        return []
    left = counted(total - shown, f"more {noun}", f"more {plural or noun + 's'}")
    return [Text(f"  … {left}: --top 0 shows all", style=FAINT)]


def page(parts: Iterable[RenderableType]) -> RenderableType:
    """Parts below each other, no wider than is easy to read."""
    return Constrain(Group(*parts), WIDEST)


def place(location: "Location | None", names: Mapping[str, str]) -> str:
    """`train.py:31`, with the file's short name in this table."""
    if location is None:
        return NOTHING
    return f"{names.get(location.file, location.file)}:{location.line}"


def of_several_processes(rows: Iterable[Any]) -> bool:
    """Whether each row has to say whose it is."""
    return len({process_name(row.process) for row in rows}) > 1


def process_name(process: "Process") -> str:
    """`main 4711`, `rank 3`, `workers` (several together)."""
    if process.role == "rank":
        return f"rank {process.rank}"
    if process.pid is None:
        return "workers" if process.role == "worker" else process.role
    return f"{process.role} {process.pid}"
