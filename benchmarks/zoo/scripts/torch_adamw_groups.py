"""AdamW with foreach switched off to save memory on a model that is deep and narrow."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": "optimizer-unfused", "function": "Trainer.step", "framework": "torch"}


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.linear(self.norm(x)))


class Trainer:
    def __init__(self, model, fused):
        self.model = model
        decayed = [p for p in model.parameters() if p.ndim > 1]
        plain = [p for p in model.parameters() if p.ndim <= 1]
        groups = [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0}]
        how = {"fused": True} if fused else {"foreach": False}
        self.optimizer = torch.optim.AdamW(groups, lr=1e-3, **how)

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    torch.manual_seed(0)
    model = nn.Sequential(*[Residual(64) for _ in range(80)], nn.Linear(64, 1))
    trainer = Trainer(model, fused=parser.parse_args().fixed)
    for step in range(120):
        x = torch.randn(128, 64)
        loss = trainer.step(x, x[:, :1] * x[:, 1:2])
        if step % 20 == 0:
            print(f"step {step}: {loss:.4f}")
        tick()


if __name__ == "__main__":
    main()
