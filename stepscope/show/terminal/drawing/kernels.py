"""Kernels by what tells them apart: `vectorized_elementwise_kernel<4, AddFunctor<float>>` of a name
with namespaces, the type that it returns, and its arguments. The page has the same (`kernelName` in
`web/src/format.ts`)."""

import functools
import re
from typing import Final

_COMPILED: Final = re.compile(r"::|^void ")
_NAMELESS: Final = "(anonymous namespace)::"
_CASTS: Final = re.compile(r"\((?:unsigned )?(?:int|long|short|char|bool)\)")
_NAMESPACES: Final = re.compile(r"(?:[A-Za-z_]\w*::)+(?=[A-Za-z_{])", re.ASCII)
_GAPS: Final = re.compile(r" +>")


@functools.cache
def kernel_name(text: str) -> str:
    if not _COMPILED.search(text):
        return text
    plain = text.replace(_NAMELESS, "")
    start, end = _own_part(plain)
    short = _NAMESPACES.sub("", _CASTS.sub("", plain[start:end]))
    return _GAPS.sub(">", short) or text


def _own_part(plain: str) -> tuple[int, int]:
    """From behind the type that it returns to its arguments, both outside of `<>`."""
    depth = start = 0
    for at, each in enumerate(plain):
        if each == "<":
            depth += 1
        elif each == ">" and plain[at - 1 : at] != "-":
            depth -= 1
        elif depth == 0 and each == " ":
            start = at + 1
        elif depth == 0 and each == "(":
            return start, at
    return start, len(plain)
