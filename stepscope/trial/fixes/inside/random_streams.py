"""The random numbers that a script draws from the global generators of Python, NumPy and torch."""

import sys
from collections.abc import Callable
from typing import Any, Final

_MOST_DRAWS: Final = 64  # a loader draws one for its workers and one for its order


class Streams:
    """How the generators of the modules that the script has loaded stand."""

    def __init__(self) -> None:
        self._states = {name: ask() for name, (ask, _) in _generators().items()}

    def restore(self) -> None:
        for name, (_, put) in _generators().items():
            if name in self._states:
                put(self._states[name])

    def moved_since(self, before: "Streams") -> list[str]:
        """The modules whose random numbers were used in between. One that was loaded then (NumPy
        loads its own at the first use) counts."""
        return [
            name
            for name, state in self._states.items()
            if name not in before._states or not _is_same(state, before._states[name])
        ]

    def torch_draws_since(self, before: "Streams") -> int | None:
        """How many whole numbers torch drew in between, if that is all that it drew, and few.
        Leaves the generator as it is now."""
        if not {"torch"} <= before._states.keys() & self._states.keys():
            return 0
        goal = self._states["torch"]
        sys.modules["torch"].set_rng_state(before._states["torch"])
        try:
            for draws in range(_MOST_DRAWS + 1):
                if _is_same(sys.modules["torch"].get_rng_state(), goal):
                    return draws
                draw_torch(1)
        finally:
            sys.modules["torch"].set_rng_state(goal)
        return None


def draw_torch(count: int) -> None:
    """As `DataLoader` and its samplers do for their seeds."""
    torch = sys.modules["torch"]
    for _ in range(count):
        torch.empty((), dtype=torch.int64).random_()


_Ways = tuple[Callable[[], Any], Callable[[Any], object]]


def _generators() -> dict[str, _Ways]:
    found: dict[str, _Ways] = {}
    if (random := sys.modules.get("random")) is not None:
        found["random"] = random.getstate, random.setstate
    if (numpy := sys.modules.get("numpy.random")) is not None:
        found["numpy"] = numpy.get_state, numpy.set_state
    if (torch := sys.modules.get("torch")) is not None and hasattr(torch, "get_rng_state"):
        found["torch"] = torch.get_rng_state, torch.set_rng_state
    return found


def _is_same(one: Any, other: Any) -> bool:
    """States are tuples of numbers, tuples with an array, or a tensor."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    same = one == other
    return bool(same.all()) if hasattr(same, "all") else bool(same)
