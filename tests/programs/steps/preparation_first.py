"""A long preparation, file by file, and then 2 epochs of 30 steps."""

from _busy import busy


def prepare() -> None:
    for _file in range(40):
        busy(4)


prepare()
for _epoch in range(2):
    for _batch in range(30):
        busy(2)
