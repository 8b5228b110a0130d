"""The tree of sampled stacks: the call tree with times; library code folded together."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, OverflowMethod, RenderableType, RenderResult
from rich.text import Text

from stepscope.model import StackRow, StacksAnswer, ThreadStacks
from stepscope.show.terminal.drawing.numbers import counted, duration, padded_duration, percent
from stepscope.show.terminal.drawing.page import (
    CODE,
    FAINT,
    heading,
    more,
    notes_block,
    page,
    process_name,
)
from stepscope.show.terminal.drawing.paths import short_function, short_paths

LEAST_SHARE: Final = 0.01
_THREADS: Final = 5
_HOT: Final = ((0.5, "bold red"), (0.2, "yellow"), (0.05, "green"), (0.0, "dim"))
_FUNCTION_WIDTH: Final = 40
_MOST_NAMED: Final = 4  # libraries in a group


@dataclasses.dataclass(eq=False)
class _Branch:
    """A row and the rows below it."""

    row: StackRow | None
    below: list["_Branch"] = dataclasses.field(default_factory=list)
    hidden: int = 0  # library frames that are folded into this one
    libraries: dict[str, int] = dataclasses.field(default_factory=dict)  # name to its time


def tree(
    answer: StacksAnswer,
    *,
    top: int | None = None,
    unfold: bool = False,
) -> RenderableType:
    """One tree per thread; `unfold` shows library frames, too."""
    threads = answer.threads
    most = _THREADS if top is None else top or len(threads)
    parts: list[RenderableType] = []
    for shown in threads[:most]:
        parts += [_heading(shown), _TreeText(shown.rows, unfold=unfold), Text("")]
    if not threads:
        parts.append(heading("Stacks"))
    return page([*parts[:-1], *more(len(threads), most, "thread"), *notes_block(answer.notes)])


def _heading(thread: ThreadStacks) -> Text:
    name = process_name(thread.process)
    several = f", {counted(thread.threads, 'thread')}" if thread.threads > 1 else ""
    seen = f"{duration(thread.total_ns)} in {counted(thread.samples, 'sample')}"
    return heading(thread.thread, f"{name}{several}  {seen}")


class _TreeText:
    """The lines of one tree, cut to the width of the console."""

    def __init__(self, rows: Sequence[StackRow], *, unfold: bool) -> None:
        self._root = _branches(rows)
        if not unfold:
            _fold(self._root)
        self._files = short_paths(row.file for row in rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        overflow: OverflowMethod = "ellipsis" if options.is_terminal else "ignore"
        glyphs = ("|- ", "`- ", "|  ") if options.ascii_only else ("├─ ", "└─ ", "│  ")
        for branch, stem, folded in _lines(self._root, glyphs):
            line = Text(no_wrap=True, overflow=overflow)
            if folded:
                yield line.append(_folded_text(branch, stem), style=FAINT)
            elif branch.row is not None:
                yield self._describe(line, branch.row, stem).append(_self_text(branch), FAINT)

    def _describe(self, line: Text, row: StackRow, stem: str) -> Text:
        style = next(style for least, style in _HOT if row.share >= least)
        line.append(f"{padded_duration(row.total_ns):>9} {percent(row.share):>7}  ", style=style)
        line.append(stem, style=FAINT)
        line.append(
            short_function(row.function, _FUNCTION_WIDTH),
            style=style if row.library is None else "",
        )
        place = f"{self._files[row.file]}:{row.line}"
        return line.append(f"  {place}", style=CODE if row.library is None else FAINT)


def _self_text(branch: _Branch) -> str:
    """A function's own time, if it is worth mentioning beside that of what it calls."""
    row = branch.row
    if row is None or not (branch.below or branch.hidden) or not row.total_ns:
        return ""
    own_share = row.share * row.self_ns / row.total_ns
    return f"  itself {duration(row.self_ns)}" if own_share >= LEAST_SHARE else ""


def _folded_text(branch: _Branch, stem: str) -> str:
    longest = sorted(branch.libraries, key=lambda name: -branch.libraries[name])
    names = ", ".join(longest[:_MOST_NAMED]) + (", …" if len(longest) > _MOST_NAMED else "")
    return f"{'':19}{stem}[{counted(branch.hidden, 'frame')} hidden]  {names}"


def _branches(rows: Sequence[StackRow]) -> _Branch:
    """Nested, without what takes less than 1 %."""
    root = _Branch(None)
    path = [root]
    for row in rows:
        if row.share < LEAST_SHARE or row.depth >= len(path):
            continue  # below the limit, or called by a function below it
        del path[row.depth + 1 :]
        branch = _Branch(row)
        path[-1].below.append(branch)
        path.append(branch)
    return root


def _fold(root: _Branch) -> None:
    """Of library code, only the function that the user's code calls is shown; what that calls in
    turn is folded into it, and continues where the user's own code runs again."""
    waiting = [root]
    while waiting:
        branch = waiting.pop()
        if branch.row is not None and branch.row.library is not None:
            _fold_into(branch)
        waiting += branch.below


def _fold_into(entry: _Branch) -> None:
    kept: list[_Branch] = []
    waiting = entry.below[::-1]
    while waiting:
        inner = waiting.pop()
        row = inner.row
        if row is None or row.library is None:
            kept.append(inner)
            continue
        entry.hidden += 1
        entry.libraries[row.library] = entry.libraries.get(row.library, 0) + row.self_ns
        waiting += inner.below[::-1]
    entry.below = sorted(kept, key=lambda branch: -branch.row.total_ns if branch.row else 0)


def _lines(root: _Branch, glyphs: tuple[str, str, str]) -> Iterator[tuple[_Branch, str, bool]]:
    """(branch, stem, whether the line is about folded frames), from top to bottom."""
    tee, corner, bar = glyphs
    waiting = [(branch, "", "") for branch in reversed(root.below)]
    while waiting:
        branch, stem, indent = waiting.pop()
        yield branch, stem, False
        if branch.hidden:
            yield branch, indent + (tee if branch.below else corner), True
        for index, inner in enumerate(reversed(branch.below)):
            glyph, more_indent = (corner, "   ") if index == 0 else (tee, bar)
            waiting.append((inner, indent + glyph, indent + more_indent))
