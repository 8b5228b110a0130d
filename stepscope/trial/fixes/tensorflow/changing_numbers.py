"""Python numbers that a graph function gets: another one makes another graph, a tensor does not."""

from typing import Any


class ChangingNumbers:
    """Of one function. A number goes on as it is until another one comes in its place."""

    def __init__(self, tensorflow: Any) -> None:
        self._constant = tensorflow.constant
        self._first: dict[int | str, int | float] = {}
        self._changing: set[int | str] = set()

    def as_tensors(self, args: Any, kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        by_place = [self._one(place, value) for place, value in enumerate(args)]
        return by_place, {name: self._one(name, value) for name, value in kwargs.items()}

    def _one(self, place: int | str, value: Any) -> Any:
        if type(value) not in (int, float):  # by type: there are only two booleans
            return value
        if self._first.setdefault(place, value) != value:
            self._changing.add(place)
        return self._constant(value) if place in self._changing else value
