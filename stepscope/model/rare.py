"""How a share of the steps is written if only some of them have it."""

from typing import Final

_NEARLY_ALL: Final = 0.9  # of the steps: a few may have been interrupted


def of_steps(count: int | None, measured: int | None) -> str:
    """After "37 % of ": `step time`, or `step time, in 2 of 157 steps`. None: not known."""
    if count is None or not measured or count >= _NEARLY_ALL * measured:
        return "step time"
    return f"step time, in {count:,} of {measured:,} steps"


def goes_on(of: str) -> str:
    """With the comma that a sentence needs before it goes on."""
    return f"{of}," if "," in of else of
