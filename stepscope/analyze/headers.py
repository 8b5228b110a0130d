"""Where the bodies of loops begin, read from the source text as it was when it ran."""

import ast
import functools

from stepscope.store.reader import ProcessData, Run
from stepscope.store.records import LoopName


def body_line(run: Run, process: ProcessData, loop: LoopName) -> int:
    """The first line of a loop's body; its own line where that is not known."""
    if loop.body_line is not None:
        return loop.body_line
    code = process.names.codes.get(loop.code)
    file = process.names.files.get(code.file) if code else None
    found = _body_lines(run, file.source) if file else {}
    return found.get(loop.line, loop.line)


@functools.lru_cache(maxsize=256)
def _body_lines(run: Run, source: str | None) -> dict[int, int]:
    """Header line to the body's first line. Text of another Python's grammar tells nothing."""
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
