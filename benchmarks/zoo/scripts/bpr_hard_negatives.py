"""Bayesian personalised ranking with hard negatives taken from the items' nearest neighbours."""

import argparse

import torch
import torch.nn.functional as F
from timing import tick
from torch import nn

ZOO = {
    "id": "slow-outlier-steps",
    "function": ["NegativePool.refresh", "NegativePool.neighbours"],
    "framework": "torch",
}


class TwoTower(nn.Module):
    def __init__(self, users, items, dim=64):
        super().__init__()
        self.users = nn.Embedding(users, dim)
        self.items = nn.Embedding(items, dim)
        self.tower = nn.Sequential(nn.Linear(dim, 256), nn.ReLU(), nn.Linear(256, dim))

    def user(self, ids):
        return self.tower(self.users(ids))

    def item(self, ids):
        return self.tower(self.items(ids))


class NegativePool:
    """For each item the `size` items that look most like it, brought up to date now and then."""

    def __init__(self, model, items, size=20, every=40, full_sort=True):
        self.model, self.items, self.size, self.every = model, items, size, every
        self.full_sort = full_sort
        self.pool = torch.randint(items, (items, size))

    def neighbours(self, similarity):
        if self.full_sort:
            return similarity.argsort(dim=1, descending=True)[:, : self.size]
        return similarity.topk(self.size, dim=1).indices

    @torch.no_grad()
    def refresh(self):
        vectors = F.normalize(self.model.items.weight, dim=1)
        similarity = vectors @ vectors.T
        similarity.fill_diagonal_(-1.0)
        self.pool = self.neighbours(similarity)

    def sample(self, positives, step):
        if step % self.every == self.every - 1:
            self.refresh()
        column = torch.randint(self.size, positives.shape)
        return self.pool[positives, column]


def interactions(users, items, n):
    """People like items of their own taste group."""
    user = torch.randint(users, (n,))
    item = (user % 16) * (items // 16) + torch.randint(items // 16, (n,))
    return user, item


def train(args):
    torch.manual_seed(1)
    user, item = interactions(args.users, args.items, 120_000)
    model = TwoTower(args.users, args.items)
    pool = NegativePool(model, args.items, every=args.refresh_every, full_sort=not args.fixed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.0)
    for step in range(args.steps):
        rows = torch.randint(len(user), (args.batch_size,))
        users, positives = user[rows], item[rows]
        negatives = pool.sample(positives, step)
        who = model.user(users)
        margin = (who * (model.item(positives) - model.item(negatives))).sum(dim=1)
        loss = -F.logsigmoid(margin).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step:4d} loss {loss.item():.4f}")
        tick()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--users", type=int, default=4000)
    parser.add_argument("--items", type=int, default=3200)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--refresh-every", type=int, default=40)
    train(parser.parse_args())
