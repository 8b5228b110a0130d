"""Prototypical contrastive learning (after Li et al.) on the digits, with k-means prototypes."""

import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from timing import tick

ZOO = {
    "id": "slow-outlier-steps",
    "also": ["host-code"],
    "function": ["Prototypes.refresh", "Prototypes.cluster"],
    "framework": "torch",
}


class Encoder(nn.Module):
    def __init__(self, hidden=384, dim=64):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(64, hidden),
            nn.BatchNorm1d(hidden),
            nn.ReLU(inplace=True),
            nn.Linear(hidden, hidden),
            nn.BatchNorm1d(hidden),
            nn.ReLU(inplace=True),
        )
        self.projector = nn.Linear(hidden, dim)

    def forward(self, x):
        return F.normalize(self.projector(self.backbone(x)), dim=1)


def two_views(x):
    """Two copies of the batch, each with noise, another brightness, and missing pixels."""
    x = x.repeat(2, 1)
    x = x * (0.7 + 0.6 * torch.rand(len(x), 1)) + 0.1 * torch.randn_like(x)
    return x * (torch.rand_like(x) > 0.2)


def info_nce(z, temperature=0.2):
    n = len(z) // 2
    similarity = z @ z.t() / temperature
    similarity.fill_diagonal_(-1e9)
    labels = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(similarity, labels)


class Prototypes:
    """Clusters of all embeddings at several granularities, made anew from time to time."""

    def __init__(self, counts=(20, 40, 80), warm=False):
        self.counts, self.warm = counts, warm
        self.centers, self.assigned = {}, {}

    def cluster(self, embeddings, k):
        if self.warm and k in self.centers:
            return KMeans(k, init=self.centers[k].numpy(), n_init=1, max_iter=4).fit(embeddings)
        return KMeans(k, n_init=10, random_state=0).fit(embeddings)

    @torch.no_grad()
    def refresh(self, model, data):
        model.eval()
        embeddings = model(data).numpy()
        model.train()
        for k in self.counts:
            found = self.cluster(embeddings, k)
            self.centers[k] = torch.from_numpy(found.cluster_centers_).float()
            self.assigned[k] = torch.from_numpy(found.labels_).long()

    def loss(self, z, index, temperature=0.3):
        total = 0.0
        for k in self.counts:
            logits = z @ F.normalize(self.centers[k], dim=1).t() / temperature
            total = total + F.cross_entropy(logits, self.assigned[k][index])
        return total / len(self.counts)


def main(args):
    torch.manual_seed(args.seed)
    data = torch.from_numpy(load_digits().data).float() / 16
    model = Encoder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.06, momentum=0.9, weight_decay=5e-4)
    prototypes = Prototypes(warm=args.fixed)
    begin = None
    for step in range(args.steps):
        if step % args.cluster_every == 0:
            prototypes.refresh(model, data)
        begin = begin or time.time()
        index = torch.randint(len(data), (args.batch_size,))
        z = model(two_views(data[index]))
        loss = info_nce(z) + prototypes.loss(z, index.repeat(2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tick()
        if (step + 1) % 80 == 0:
            ms = (time.time() - begin) / (step + 1) * 1000
            print(f"Step [{step + 1}/{args.steps}]\tLoss {loss.item():.3f}\tTime {ms:.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser("PCL")
    parser.add_argument("--steps", default=400, type=int)
    parser.add_argument("--batch-size", default=160, type=int)
    parser.add_argument("--cluster-every", default=40, type=int)
    parser.add_argument("--seed", default=5, type=int)
    parser.add_argument("--fixed", action="store_true", help="k-means starts warm")
    main(parser.parse_args())
