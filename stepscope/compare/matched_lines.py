"""Which line of a file is which in its edited version."""

import difflib
from collections.abc import Iterator, Sequence
from typing import Final

_SAME_LINE: Final = 0.6  # of its characters, in order: an argument was added or a name changed
# Of two replaced blocks: comparing every line with every other of larger ones takes seconds.
_MOST_COMPARED: Final = 10_000


def matched_lines(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Line numbers before to those after, from 1; deleted lines are missing.

    1. Lines that did not change, by the longest runs of them.
    2. In a block that was replaced, lines that look alike, in order.
    """
    matcher = difflib.SequenceMatcher(
        None, [line.strip() for line in before], [line.strip() for line in after], autojunk=False
    )
    found: dict[int, int] = {}
    for kind, first, last, first_after, last_after in matcher.get_opcodes():
        if kind == "equal":
            found |= {first + i + 1: first_after + i + 1 for i in range(last - first)}
        elif kind == "replace":
            edited = _alike(before[first:last], after[first_after:last_after])
            found |= {first + i + 1: first_after + j + 1 for i, j in edited}
    return found


def _alike(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int]]:
    if len(before) * len(after) > _MOST_COMPARED:
        return
    begin = 0
    for index, line in enumerate(before):
        scores = [(_likeness(line, other), -at) for at, other in enumerate(after[begin:])]
        score, at = max(scores, default=(0.0, 0))
        if score >= _SAME_LINE:
            yield index, begin - at
            begin += 1 - at


def _likeness(line: str, other: str) -> float:
    return difflib.SequenceMatcher(None, line.strip(), other.strip(), autojunk=False).ratio()
