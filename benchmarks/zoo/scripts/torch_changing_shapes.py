"""A compiled model meets a new sequence length in almost every step."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": "recompilation", "function": ["main", "Scorer.forward"], "framework": "torch"}

WIDTH = 48
LONGEST = 120


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(200, WIDTH)
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(2)])
        self.out = nn.Linear(WIDTH, 1)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = x + torch.tanh(layer(x)) * (x.shape[1] / LONGEST)
        return self.out(x.mean(dim=1)).squeeze(-1)


def make_batch(generator, pad):
    length = int(torch.randint(40, LONGEST, (1,), generator=generator))
    tokens = torch.randint(1, 200, (16, length), generator=generator)
    target = (tokens < 60).float().mean(dim=1)
    if pad:
        tokens = nn.functional.pad(tokens, (0, LONGEST - length))
    return tokens, target


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch._dynamo.config.recompile_limit = 200
    model = torch.compile(Scorer(), backend="eager", dynamic=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(0)
    for step in range(60):
        tokens, target = make_batch(generator, pad=arguments.fixed)
        loss = nn.functional.mse_loss(model(tokens), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.5f}")
        tick()


if __name__ == "__main__":
    main()
