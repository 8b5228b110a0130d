"""Siamese network with contrastive loss on pairs of digits."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

from step_clock import StepClock

ZOO = {"id": "memory-growth", "function": ["ProbeMonitor.update", "SiameseTrainer.training_step"], "framework": "torch"}


class PairSampler:
    """Endless batches of image pairs, half of them of the same class."""

    def __init__(self, images, labels, batch, seed):
        self.images, self.labels, self.batch = images, labels, batch
        self.generator = torch.Generator().manual_seed(seed)
        self.members = [torch.nonzero(labels == c).squeeze(1) for c in range(10)]

    def _from_class(self, c):
        pool = self.members[c]
        return pool[torch.randint(len(pool), (1,), generator=self.generator)]

    def __iter__(self):
        while True:
            left = torch.randint(len(self.images), (self.batch,), generator=self.generator)
            shift = torch.randint(1, 10, (self.batch,), generator=self.generator)
            shift[: self.batch // 2] = 0
            classes = ((self.labels[left] + shift) % 10).tolist()
            right = torch.cat([self._from_class(c) for c in classes])
            yield self.images[left], self.images[right], (shift == 0).float()


class EmbeddingNet(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 768), nn.PReLU(), nn.LayerNorm(768))
        self.head = nn.Linear(768, dim)

    def forward(self, x):
        return self.head(self.body(x.flatten(1)))


def contrastive_loss(a, b, same, margin=1.0):
    distance = F.pairwise_distance(a, b)
    losses = same * distance ** 2 + (1 - same) * F.relu(margin - distance) ** 2
    return losses.mean()


class ProbeMonitor:
    """Follows a fixed set of images: how far their embeddings are from where they began."""

    def __init__(self, net, images, detach):
        self.net, self.images, self.detach = net, images, detach
        self.start = net(images).detach()
        self.drift = []

    def update(self):
        moved = (self.net(self.images) - self.start).norm(dim=1).mean()
        self.drift.append(moved.detach() if self.detach else moved)

    def recent(self, count):
        return torch.stack(self.drift[-count:]).mean().item()


class SiameseTrainer:
    def __init__(self, net, monitor, lr):
        self.net, self.monitor = net, monitor
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9, fused=True)
        self.clock = StepClock()

    def training_step(self, left, right, same):
        loss = contrastive_loss(self.net(left), self.net(right), same)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.monitor.update()
        return loss.item()

    def fit(self, pairs, steps, report):
        losses = []
        self.clock.start()
        for step, (left, right, same) in enumerate(pairs, 1):
            losses.append(self.training_step(left, right, same))
            self.clock.tick()
            if step % report == 0:
                print(f"step {step}: loss {sum(losses[-report:]) / report:.4f}, drift {self.monitor.recent(report):.4f}")
            if step == steps:
                break
        self.clock.dump()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=280)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--probe", type=int, default=1536)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--fixed", action="store_true", help="use the faster variant")
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.from_numpy(digits.images).float().unsqueeze(1) / 16
    sampler = PairSampler(images, torch.from_numpy(digits.target), args.batch, seed=0)
    net = EmbeddingNet()
    monitor = ProbeMonitor(net, images[:args.probe], detach=args.fixed)
    SiameseTrainer(net, monitor, args.lr).fit(sampler, args.steps, report=40)
