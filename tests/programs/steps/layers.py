"""25 steps through 6 layers, forward and back."""

from _busy import busy


def forward() -> None:
    for _layer in range(6):
        busy(1.2)


def backward() -> None:
    for _layer in reversed(range(6)):
        busy(1.2)


for _number in range(25):
    forward()
    backward()
