"""How a share of the steps is written if only some of them have it."""

from typing import Final

_NEARLY_ALL: Final = 0.9  # of the steps: a few may have been interrupted


def of_steps(count: int | None, measured: int | None) -> str:
    """After "37 % of ": `step time`, or `step time, in 2 of 157 steps`. None: not known."""
    if not is_rare(count, measured):
        return "step time"
    return f"step time, in {count:,} of {measured:,} steps"


def is_rare(count: int | None, measured: int | None) -> bool:
    """Whether clearly fewer than all steps have it."""
    return count is not None and bool(measured) and count < _NEARLY_ALL * (measured or 0)


def goes_on(of: str) -> str:
    """With the comma that a sentence needs before it goes on."""
    return f"{of}," if "," in of else of
