"""3 epochs of 20 batches, each followed by an evaluation of 5."""

from _busy import busy


def train(loader: range) -> None:
    for _batch in loader:
        busy(3)


def evaluate(loader: range) -> None:
    for _batch in loader:
        busy(2)


for _epoch in range(3):
    train(range(20))
    evaluate(range(5))
