"""An LSTM cell written out gate by gate: many tiny operators a time step."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": "eager-overhead", "function": "GateByGate.forward", "framework": "torch"}

TIME, BATCH, INPUTS, HIDDEN = 50, 16, 24, 48


class GateByGate(nn.Module):
    def __init__(self):
        super().__init__()
        self.x_gates = nn.ModuleList([nn.Linear(INPUTS, HIDDEN) for _ in range(4)])
        self.h_gates = nn.ModuleList([nn.Linear(HIDDEN, HIDDEN) for _ in range(4)])

    def forward(self, sequence):
        h = torch.zeros(BATCH, HIDDEN)
        c = torch.zeros(BATCH, HIDDEN)
        for x in sequence:
            i, f, g, o = (a(x) + b(h) for a, b in zip(self.x_gates, self.h_gates, strict=True))
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(INPUTS, HIDDEN)

    def forward(self, sequence):
        return self.lstm(sequence)[1][0][0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    body = Fused() if arguments.fixed else GateByGate()
    head = nn.Linear(HIDDEN, 1)
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
    for step in range(120):
        sequence = torch.randn(TIME, BATCH, INPUTS)
        target = torch.tanh(sequence[-4:, :, :1].sum(dim=0))
        loss = nn.functional.mse_loss(head(body(sequence)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            print(step, f"{loss.item():.4f}")
        tick()


if __name__ == "__main__":
    main()
