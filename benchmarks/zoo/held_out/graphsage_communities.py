"""GraphSAGE with neighbour sampling on a planted-partition graph (minibatches, two hops)."""

import argparse
from time import perf_counter

import torch
import torch.nn.functional as F
from timing import tick
from torch import nn

ZOO = {"id": None, "function": None, "framework": "torch"}

NODES, CLASSES, FEATURES, DEGREE = 20_000, 12, 96, 15
FANOUTS = (12, 8)


def planted_partition(generator):
    """CSR neighbours: two thirds of them in the node's own community."""
    labels = torch.randint(CLASSES, (NODES,), generator=generator)
    by_label = torch.argsort(labels)
    sizes = torch.bincount(labels, minlength=CLASSES)
    first = sizes.cumsum(0) - sizes
    degree = torch.randint(3, 2 * DEGREE, (NODES,), generator=generator)
    rows = torch.repeat_interleave(torch.arange(NODES), degree)
    within = (torch.rand(len(rows), generator=generator) * sizes[labels[rows]]).long()
    inside = by_label[first[labels[rows]] + within]
    anywhere = torch.randint(NODES, (len(rows),), generator=generator)
    is_inside = torch.rand(len(rows), generator=generator) < 0.67
    columns = torch.where(is_inside, inside, anywhere)
    indptr = torch.cat([torch.zeros(1, dtype=torch.long), degree.cumsum(0)])
    centres = torch.randn(CLASSES, FEATURES, generator=generator)
    features = 0.4 * centres[labels] + torch.randn(NODES, FEATURES, generator=generator)
    return indptr, columns, features, labels


class Sampler:
    def __init__(self, indptr, columns):
        self.start, self.columns = indptr[:-1], columns
        self.degree = indptr[1:] - indptr[:-1]

    def neighbours(self, nodes, fanout):
        """With replacement; one row per node."""
        draw = torch.rand(*nodes.shape, fanout) * self.degree[nodes].unsqueeze(-1)
        return self.columns[self.start[nodes].unsqueeze(-1) + draw.long()]


class SageLayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.others = nn.Linear(inputs, outputs, bias=False)

    def forward(self, own, others):
        return self.own(own) + self.others(others.mean(dim=-2))


class GraphSage(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.first = SageLayer(FEATURES, hidden)
        self.second = SageLayer(hidden, CLASSES)

    def forward(self, features, sampler, nodes):
        hop1 = sampler.neighbours(nodes, FANOUTS[0])
        hop2 = sampler.neighbours(hop1, FANOUTS[1])
        x0, x1, x2 = features[nodes], features[hop1], features[hop2]
        h0 = F.relu(self.first(x0, x1))
        h1 = F.relu(self.first(x1, x2))
        return self.second(F.dropout(h0, 0.3, self.training), h1)


@torch.no_grad()
def accuracy(model, features, labels, sampler, nodes):
    model.eval()
    right = (model(features, sampler, nodes).argmax(1) == labels[nodes]).float().mean().item()
    model.train()
    return right


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix here")
    parser.parse_args()
    torch.manual_seed(7)
    indptr, columns, features, labels = planted_partition(torch.Generator().manual_seed(7))
    train, test = torch.randperm(NODES).split([NODES - 512, 512])
    sampler, model = Sampler(indptr, columns), GraphSage()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
    start, done = perf_counter(), 0
    for epoch in range(6):
        order = train[torch.randperm(len(train))]
        for nodes in order.split(384):
            loss = F.cross_entropy(model(features, sampler, nodes), labels[nodes])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done += 1
            tick()
        found = accuracy(model, features, labels, sampler, test)
        per_step = (perf_counter() - start) / done
        print(f"epoch {epoch}: loss {loss.item():.3f}, test {found:.3f}, {1e3 * per_step:.1f} ms")
