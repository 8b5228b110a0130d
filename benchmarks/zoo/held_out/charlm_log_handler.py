"""A language model whose log handler spells out all gradients of every record it gets."""

import argparse
import logging

import torch
from timing import tick
from torch import nn

ZOO = {
    "id": "logging-stall",
    "function": ["GradientHandler.emit", "GradientHandler.spelled"],
    "framework": "torch",
}
log = logging.getLogger("charlm")


class GradientHandler(logging.Handler):
    """Writes a row a parameter; records come with the model as an extra."""

    def __init__(self, path, rarely):
        super().__init__(logging.DEBUG)
        self.file = open(path, "w")
        self.rarely = rarely
        self.seen = 0

    def spelled(self, name, gradient):
        return name + " " + " ".join(f"{g:.4g}" for g in gradient.flatten()[:8000].tolist())

    def emit(self, record):
        self.seen += 1
        if self.rarely and self.seen % 40:
            return
        for name, parameter in record.model.named_parameters():
            self.file.write(self.spelled(name, parameter.grad) + "\n")


class CharModel(nn.Module):
    def __init__(self, letters=40, size=96):
        super().__init__()
        self.embed = nn.Embedding(letters, size)
        self.rnn = nn.LSTM(size, size, batch_first=True)
        self.out = nn.Linear(size, letters)

    def forward(self, text):
        return self.out(self.rnn(self.embed(text))[0])


def chunks(text, count, size=24, length=32):
    """Pieces of the text at random places, each with the letter that follows."""
    for _ in range(count):
        start = torch.randint(0, len(text) - length - 1, (size, 1))
        piece = text[start + torch.arange(length + 1)]
        yield piece[:, :-1], piece[:, 1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    log.addHandler(GradientHandler("gradients.txt", rarely=asked.fixed))
    log.setLevel(logging.DEBUG)
    torch.manual_seed(6)
    text = (torch.arange(20_000) * 7 % 40 + torch.randint(0, 3, (20_000,))) % 40
    model = CharModel()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)
    for number, (given, following) in enumerate(chunks(text, 150)):
        loss = nn.functional.cross_entropy(model(given).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        log.debug("step %d", number, extra={"model": model})
        optimizer.step()
        if number % 50 == 49:
            print(f"{number + 1}: {loss.item():.4f}")
        tick()


if __name__ == "__main__":
    main()
