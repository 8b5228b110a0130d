"""Where loops and their bodies begin, read from the source text as it was when it ran."""

import ast
import functools

from stepscope.store.reader import ProcessData, Run
from stepscope.store.records import LoopName


def body_line(run: Run, process: ProcessData, loop: LoopName) -> int:
    """The first line of a loop's body; its own line if that is not known."""
    return _body_lines(run, _source(process, loop)).get(loop.line, loop.line)


def header_line(run: Run, process: ProcessData, loop: LoopName) -> int:
    """The line of the `while` whose body's first line is the stamped one; else the loop's own."""
    bodies = _body_lines(run, _source(process, loop))
    if loop.line in bodies:
        return loop.line
    headers = [header for header, body in bodies.items() if body == loop.line]
    return max(headers, default=loop.line)


def _source(process: ProcessData, loop: LoopName) -> str | None:
    known = process.names.code_and_file(loop.code)
    return known[1].source if known is not None else None


@functools.lru_cache(maxsize=256)
def _body_lines(run: Run, source: str | None) -> dict[int, int]:
    """Header line to the body's first line. Source in another Python's grammar yields nothing."""
    text = run.source_lines(source)
    if text is None:
        return {}
    try:
        tree = ast.parse("\n".join(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    loops = (
        node for node in ast.walk(tree) if isinstance(node, ast.For | ast.AsyncFor | ast.While)
    )
    return {loop.lineno: loop.body[0].lineno for loop in loops}
