#!/usr/bin/env python3
"""Store sales from categorical columns: entity embeddings (Guo & Berkhahn) and AdaBelief."""

import argparse
import math
import time

import torch
from timing import tick
from torch import nn
from torch.optim import Optimizer

ZOO = {
    "id": "optimizer-unfused",
    "function": "AdaBelief.step",
    "framework": "torch",
}


class AdaBelief(Optimizer):
    """https://arxiv.org/abs/2010.07468, decoupled weight decay and rectification left out."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-12, weight_decay=0.0):
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_var"] = torch.zeros_like(p)
                exp_avg, exp_avg_var = state["exp_avg"], state["exp_avg_var"]
                state["step"] += 1
                bias1 = 1 - beta1 ** state["step"]
                bias2 = 1 - beta2 ** state["step"]
                p.mul_(1 - group["lr"] * group["weight_decay"])
                exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
                residual = grad - exp_avg
                exp_avg_var.mul_(beta2).addcmul_(residual, residual, value=1 - beta2)
                denom = (exp_avg_var.add(group["eps"]).sqrt() / math.sqrt(bias2)).add_(group["eps"])
                p.add_(-(group["lr"] / bias1) * exp_avg / denom)


class EntityEmbeddings(nn.Module):
    def __init__(self, cardinalities, n_numeric, hidden=(192, 96)):
        super().__init__()
        sizes = [min(32, (c + 1) // 2) for c in cardinalities]
        self.tables = nn.ModuleList(map(nn.Embedding, cardinalities, sizes))
        self.mlp = nn.Sequential(
            nn.Linear(sum(sizes) + n_numeric, hidden[0]),
            nn.ReLU(),
            nn.Dropout(0.05),
            nn.Linear(hidden[0], hidden[1]),
            nn.ReLU(),
            nn.Linear(hidden[1], 1),
        )

    def forward(self, categories, numbers):
        looked_up = [table(categories[:, i]) for i, table in enumerate(self.tables)]
        return self.mlp(torch.cat([*looked_up, numbers], dim=1)).squeeze(1)


def fake_sales(n_rows, cardinalities, n_numeric):
    categories = torch.stack([torch.randint(c, (n_rows,)) for c in cardinalities], dim=1)
    numbers = torch.randn(n_rows, n_numeric)
    effects = [torch.randn(c) for c in cardinalities]
    log_sales = sum(e[categories[:, i]] for i, e in enumerate(effects)) / len(effects) ** 0.5
    return categories, numbers, log_sales + 0.3 * numbers.sum(dim=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--fixed", action="store_true", help="the fused AdamW of PyTorch")
    args = parser.parse_args()
    torch.manual_seed(11)
    cardinalities = [7, 12, 31, 4, 3, 1115, 52, 24, 8, 12, 22, 38, 18_000]  # last: customers
    categories, numbers, target = fake_sales(30_000, cardinalities, n_numeric=12)
    model = EntityEmbeddings(cardinalities, n_numeric=12)
    if args.fixed:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    else:
        optimizer = AdaBelief(model.parameters(), lr=1e-3, weight_decay=1e-2)
    for epoch in range(args.epochs):
        started, total = time.time(), 0.0
        batches = torch.randperm(len(target)).split(args.batch)
        for rows in batches:
            predicted = model(categories[rows], numbers[rows])
            loss = nn.functional.mse_loss(predicted, target[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            tick()
        ms = 1000 * (time.time() - started) / len(batches)
        print(f"epoch {epoch}: mse {total / len(batches):.4f}, {ms:.2f} ms per batch")


if __name__ == "__main__":
    main()
