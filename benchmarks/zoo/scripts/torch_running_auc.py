"""The area under the ROC curve over the last 40,000 predictions is computed after every step."""

import argparse

import numpy as np
import torch
from timing import tick
from torch import nn

ZOO = {"id": "host-code", "function": "RunningAuc.update", "framework": "torch"}


class RunningAuc:
    def __init__(self, size=40_000):
        self.size = size
        self.scores = np.zeros(0)
        self.labels = np.zeros(0)
        self.value = 0.5

    def update(self, scores, labels):
        self.scores = np.concatenate([self.scores, scores.numpy()])[-self.size :]
        self.labels = np.concatenate([self.labels, labels.numpy()])[-self.size :]
        ranks = self.scores.argsort().argsort() + 1
        positive = self.labels == 1
        good, bad = positive.sum(), (~positive).sum()
        self.value = (ranks[positive].sum() - good * (good + 1) / 2) / (good * bad)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    every = 60 if parser.parse_args().fixed else 1
    torch.manual_seed(0)
    x = torch.randn(8000, 128)
    y = (x[:, :3].sum(dim=1) + torch.randn(8000) > 0).float()
    model = nn.Sequential(nn.Linear(128, 384), nn.ReLU(), nn.Linear(384, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    auc = RunningAuc()
    for step in range(1, 121):
        batch = torch.randint(0, 8000, (1024,))
        scores = model(x[batch]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(scores, y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            auc.update(scores.detach(), y[batch])
        if step % 30 == 0:
            print(f"step {step} loss {loss.item():.3f} AUC {auc.value:.3f}")
        tick()


if __name__ == "__main__":
    main()
