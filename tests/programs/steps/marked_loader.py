"""`for batch in stepscope.steps(loader)`."""

from collections.abc import Iterator

from _busy import busy

import stepscope


def loader() -> Iterator[int]:
    for number in range(30):
        busy(1)
        yield number


for _batch in stepscope.steps(loader()):
    busy(2)
