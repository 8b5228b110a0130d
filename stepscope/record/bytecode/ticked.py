"""Python 3.11: code objects with ticks, from what `instrument` found out or the cache has kept.

Apart from `instrument`, because a process whose code is in the cache needs only this.
"""

from collections.abc import Callable
from types import CodeType

from stepscope.typed import Any, Final, Record

PLACEHOLDER: Final = "stepscope.tick"

MakeTick = Callable[[CodeType, int, int], object]
# Given the code with ticks, the original, where the original's instructions are in it (in the form
# of native/python/places.h) and where its copy without ticks is (native/lines/bare.h); answers
# whether the code with ticks shall run.
OnCode = Callable[[CodeType, CodeType, bytes, bytes], bool]

# What differs from the original, in plain values that marshal can write:
# (co_code, co_linetable, co_exceptiontable, co_stacksize, ((kind, line) of each tick), where the
#  original's instructions are, where the copy without ticks is, the same of each nested code
#  object, in the order of its constants).
# co_code is empty if the code is left as it was.
Rewritten = tuple[
    bytes, bytes, bytes, int, tuple[tuple[int, int], ...], bytes, bytes, tuple[Any, ...]
]


class Instrumented(Record):
    """A code object with placeholders of ticks, nested code included.

    Names and constants are the same objects as in the original, so that a pickle of a function
    shares the same ones.
    """

    original: CodeType
    code: CodeType  # constants begin with the original's, in the same places
    rewritten: Rewritten
    skipped: tuple[str, ...] = ()  # "function (file:line): reason" of code left as it was


def untouched(nested: tuple[Rewritten, ...]) -> Rewritten:
    return b"", b"", b"", 0, (), b"", b"", nested


def rebuild(code: CodeType, rewritten: Rewritten) -> CodeType:
    """`code` with its placeholders of ticks."""
    instructions, line_table, exception_table, stack_size, ticks, _, _, nested = rewritten
    parts = iter(nested)
    consts = [
        rebuild(const, next(parts)) if isinstance(const, CodeType) else const
        for const in code.co_consts
    ]
    if not instructions:
        return code.replace(co_consts=tuple(consts)) if nested else code
    return code.replace(
        co_code=instructions,
        co_linetable=line_table,
        co_exceptiontable=exception_table,
        co_stacksize=stack_size,
        co_consts=(*consts, *((PLACEHOLDER, kind, line) for kind, line in ticks)),
    )


def bind(instrumented: Instrumented, make_tick: MakeTick, on_code: OnCode) -> CodeType:
    """Replace the placeholders by `make_tick(original code, kind, line)`.

    `on_code` sees every code object, nested ones first; one that it refuses is left as it was.
    """
    made = instrumented
    return _bind_tree(made.code, made.original, made.rewritten, make_tick, on_code)


def _bind_tree(
    code: CodeType, original: CodeType, rewritten: Rewritten, make_tick: MakeTick, on_code: OnCode
) -> CodeType:
    instructions, *_, places, bare, nested = rewritten
    parts = iter(nested)
    consts = list(code.co_consts)
    for i, const in enumerate(consts):
        if isinstance(const, CodeType):
            plain = original.co_consts[i]
            consts[i] = _bind_tree(const, plain, next(parts), make_tick, on_code)
        elif i >= len(original.co_consts):
            _, kind, line = const
            consts[i] = make_tick(original, kind, line)
    bound = _with_consts(code, consts)
    if on_code(bound, original, places, bare) or not instructions:
        return bound
    return _with_consts(original, consts[: len(original.co_consts)])


def _with_consts(code: CodeType, consts: list[object]) -> CodeType:
    changed = any(new is not old for new, old in zip(consts, code.co_consts, strict=True))
    return code.replace(co_consts=tuple(consts)) if changed else code
