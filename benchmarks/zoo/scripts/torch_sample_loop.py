"""A ranking loss is summed pair by pair in Python instead of over the whole batch."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": "python-hot-loop", "function": "ranking_loss", "framework": "torch"}


def ranking_loss(scores, relevance, margin=0.5):
    total, pairs = 0.0, 0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if relevance[i] > relevance[j]:
                total = total + torch.relu(margin - (scores[i] - scores[j]))
                pairs += 1
    return total / pairs


def ranking_loss_at_once(scores, relevance, margin=0.5):
    better = relevance[:, None] > relevance[None, :]
    return torch.relu(margin - (scores[:, None] - scores[None, :]))[better].mean()


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1))

    def forward(self, documents):
        return self.layers(documents).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    criterion = ranking_loss_at_once if parser.parse_args().fixed else ranking_loss
    torch.manual_seed(0)
    documents = torch.randn(3000, 256)
    relevance = (documents[:, :4].sum(dim=1) * 1.5).round().clamp(-3, 3)
    model = Ranker()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(80):
        query = torch.randint(0, len(documents), (48,))
        loss = criterion(model(documents[query]), relevance[query])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step:3d} loss {loss.item():.4f}")
        tick()


if __name__ == "__main__":
    main()
