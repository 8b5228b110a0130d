"""Graph convolutional network (Kipf & Welling) on a synthetic citation graph with Cora's number of papers."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from step_clock import StepClock

ZOO = {"id": "host-code", "function": "macro_f1", "framework": "torch", "also": ["python-hot-loop"]}

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=42)
parser.add_argument("--epochs", type=int, default=500)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--weight_decay", type=float, default=5e-4)
parser.add_argument("--hidden", type=int, default=32)
parser.add_argument("--dropout", type=float, default=0.5)
parser.add_argument("--fixed", action="store_true", help="use the faster variant")
args = parser.parse_args()

np.random.seed(args.seed)
torch.manual_seed(args.seed)


def load_data(nodes=2708, features=500, classes=7, degree=4):
    labels = np.random.randint(0, classes, nodes)
    by_class = [np.flatnonzero(labels == c) for c in range(classes)]
    src, dst = [], []
    for n in range(nodes):
        for _ in range(np.random.poisson(degree / 2) + 1):
            pool = by_class[labels[n]] if np.random.rand() < 0.8 else np.arange(nodes)
            src.append(n)
            dst.append(np.random.choice(pool))
    topic = np.random.rand(classes, features) < 0.03
    x = (np.random.rand(nodes, features) < 0.01) | (topic[labels] & (np.random.rand(nodes, features) < 0.15))
    x = x.astype(np.float32)
    x /= np.maximum(x.sum(1, keepdims=True), 1)

    edges = set(zip(src, dst)) | set(zip(dst, src)) | {(n, n) for n in range(nodes)}
    index = torch.tensor(sorted(edges), dtype=torch.long).t()
    deg = torch.bincount(index[0], minlength=nodes).float()
    value = deg[index[0]].rsqrt() * deg[index[1]].rsqrt()
    adj = torch.sparse_coo_tensor(index, value, (nodes, nodes)).coalesce().to_sparse_csr()
    perm = torch.randperm(nodes)
    return adj, torch.from_numpy(x), torch.from_numpy(labels), perm[:1800], perm[1800:2300], perm[2300:]


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_features, out_features))
        self.bias = nn.Parameter(torch.zeros(out_features))
        stdv = 1.0 / math.sqrt(out_features)
        self.weight.data.uniform_(-stdv, stdv)

    def forward(self, x, adj):
        return torch.sparse.mm(adj, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super().__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.gc2(x, adj), dim=1)


def macro_f1(output, labels):
    classes = output.size(1)
    preds = output.argmax(1)
    if args.fixed:
        confusion = torch.bincount(labels * classes + preds, minlength=classes * classes).view(classes, classes).tolist()
    else:
        confusion = [[0] * classes for _ in range(classes)]
        for true, pred in zip(labels, preds):
            confusion[int(true)][int(pred)] += 1
    scores = []
    for c in range(classes):
        tp = confusion[c][c]
        fp = sum(confusion[r][c] for r in range(classes)) - tp
        fn = sum(confusion[c]) - tp
        scores.append(2 * tp / max(2 * tp + fp + fn, 1))
    return sum(scores) / classes


adj, features, labels, idx_train, idx_val, idx_test = load_data()
model = GCN(features.shape[1], args.hidden, int(labels.max()) + 1, args.dropout)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.weight_decay, fused=True)
clock = StepClock()


def train(epoch):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    f1_train = macro_f1(output[idx_train], labels[idx_train])
    f1_val = macro_f1(output[idx_val], labels[idx_val])
    loss_train.backward()
    optimizer.step()
    with torch.no_grad():
        loss_val = F.nll_loss(output[idx_val], labels[idx_val])
    if epoch % 50 == 0:
        print("Epoch: {:04d}".format(epoch + 1), "loss_train: {:.4f}".format(loss_train.item()),
              "f1_train: {:.4f}".format(f1_train), "loss_val: {:.4f}".format(loss_val.item()),
              "f1_val: {:.4f}".format(f1_val))


def test():
    model.eval()
    with torch.no_grad():
        output = model(features, adj)
    acc = (output[idx_test].argmax(1) == labels[idx_test]).float().mean()
    print("Test set results:", "accuracy= {:.4f}".format(acc.item()))


clock.start()
for epoch in range(args.epochs):
    train(epoch)
    clock.tick()
print("Optimization Finished!")
test()
clock.dump()
