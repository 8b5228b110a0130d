"""A loader that is a generator with a loop of its own."""

from collections.abc import Iterator

from _busy import busy


def loader() -> Iterator[int]:
    for number in range(45):
        busy(1)
        yield number


for _batch in loader():
    busy(2)
