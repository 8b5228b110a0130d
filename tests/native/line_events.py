"""Code with many lines, and events of it in any order, to feed to the line engines."""

from types import CodeType
from typing import Final

from hypothesis import strategies as st

from stepscope.native.reference import CHANGED, EXIT, LINE, RESUME

LINES: Final = 40
Event = tuple[int, int, int, int, int]  # kind, frame, index of the code, line, ticks since the last


def new_code(name: str = "f") -> CodeType:
    return compile("\n" * (LINES - 1) + name, f"<{name}>", "exec")  # codes are equal by content


def sequences(*, shortest_ticks: int, most: int) -> st.SearchStrategy[list[Event]]:
    """Of three codes."""
    event = st.tuples(
        st.sampled_from([LINE, LINE, LINE, EXIT, CHANGED, RESUME]),
        st.integers(1, 6),
        st.integers(0, 2),
        st.integers(1, LINES),
        st.integers(shortest_ticks, 50),
    )
    return st.lists(event, max_size=most)
