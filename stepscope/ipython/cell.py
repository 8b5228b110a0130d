"""A cell or statement as code objects, compiled and run as IPython does."""

import ast
import inspect
from collections.abc import Sequence
from types import CodeType
from typing import Any

from IPython.core.error import UsageError


def compile_text(shell: Any, text: str, *, is_cell: bool) -> list[CodeType]:
    """At most two: a cell's last expression, whose value is shown, is separate.

    In a cell the magic is line 1, so that line numbers are those that a notebook shows.
    """
    source = "\n" * is_cell + shell.transform_cell(text)
    # Named after the shifted text: a cell without the magic may have the same text, unshifted.
    name = shell.compile.cache(source, shell.displayhook.prompt_count)
    body = shell.transform_ast(shell.compile.ast_parse(source, filename=name)).body
    shown = body[-1:] if is_cell and _shows_its_value(shell, body, source) else []
    rest = body[: len(body) - len(shown)]
    codes = []
    if rest or not shown:  # a cell of comments is valid, too
        codes.append(_compiled(shell, ast.Module(rest, []), name, "exec"))
    if shown:
        codes.append(_compiled(shell, ast.Interactive(shown), name, "single"))
    return codes


def run_codes(shell: Any, codes: Sequence[CodeType]) -> None:
    """In the user's namespace; exceptions pass through to the caller."""
    __tracebackhide__ = True
    with shell.builtin_trap, shell.display_trap:
        for code in codes:
            exec(code, shell.user_global_ns, shell.user_ns)


def _shows_its_value(shell: Any, body: Sequence[ast.stmt], source: str) -> bool:
    if not body or not isinstance(body[-1], ast.Expr):
        return False
    return not shell.displayhook.semicolon_at_end_of_expression(source)


def _compiled(shell: Any, part: ast.AST, name: str, mode: str) -> CodeType:
    with shell.compile.extra_flags(ast.PyCF_ALLOW_TOP_LEVEL_AWAIT):
        code: CodeType = shell.compile(part, name, mode)
    if code.co_flags & inspect.CO_COROUTINE:
        raise UsageError(
            "A magic cannot await: the event loop is busy with this very cell. In a cell without "
            "the magic, write 'with stepscope.Profiler(): await ...'."
        )
    return code
