"""Neural additive model for tabular regression: one small network a column, trained with Lion."""

import argparse

import numpy as np
import torch
from timing import tick
from torch import nn

ZOO = {"id": "optimizer-unfused", "function": "Lion.step", "framework": "torch"}


class Lion(torch.optim.Optimizer):
    """Sign of the interpolated momentum, with decoupled weight decay."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=1e-2):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    def _momentum(self, p):
        state = self.state[p]
        if not state:
            state["exp_avg"] = torch.zeros_like(p)
        return state["exp_avg"]

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            lr, (beta1, beta2) = group["lr"], group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                momentum = self._momentum(p)
                p.mul_(1 - lr * group["weight_decay"])
                update = momentum.mul(beta1).add_(p.grad, alpha=1 - beta1).sign_()
                p.add_(update, alpha=-lr)
                momentum.mul_(beta2).add_(p.grad, alpha=1 - beta2)


class FlatLion(Lion):
    """The same update for all parameters of a group in a few calls over one flat buffer."""

    def __init__(self, params, **options):
        super().__init__(params, **options)
        for group in self.param_groups:
            flat = torch.cat([p.detach().reshape(-1) for p in group["params"]])
            group["flat"], group["momentum"] = flat, torch.zeros_like(flat)
            offset = 0
            for p in group["params"]:
                p.data = flat[offset : offset + p.numel()].view_as(p)
                offset += p.numel()

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            lr, (beta1, beta2) = group["lr"], group["betas"]
            flat, momentum = group["flat"], group["momentum"]
            grad = torch.cat([p.grad.reshape(-1) for p in group["params"]])
            flat.mul_(1 - lr * group["weight_decay"])
            update = momentum.mul(beta1).add_(grad, alpha=1 - beta1).sign_()
            flat.add_(update, alpha=-lr)
            momentum.mul_(beta2).add_(grad, alpha=1 - beta2)


class AdditiveModel(nn.Module):
    """A network a column. The weights stay apart so that a column can be frozen or dropped."""

    def __init__(self, columns, hidden=24):
        super().__init__()

        def per_column(*shape, scale):
            return nn.ParameterList(
                nn.Parameter(scale * torch.randn(shape)) for _ in range(columns)
            )

        self.w1 = per_column(1, hidden, scale=1.0)
        self.b1 = per_column(1, hidden, scale=0.5)
        self.w2 = per_column(hidden, hidden, scale=hidden**-0.5)
        self.b2 = per_column(1, hidden, scale=0.1)
        self.w3 = per_column(hidden, 1, scale=hidden**-0.5)

    def forward(self, x):
        h = x.T.unsqueeze(2)
        h = torch.relu(h @ torch.stack(list(self.w1)) + torch.stack(list(self.b1)))
        h = torch.relu(torch.baddbmm(torch.stack(list(self.b2)), h, torch.stack(list(self.w2))))
        return torch.bmm(h, torch.stack(list(self.w3))).sum(dim=0).squeeze(1)


def make_table(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns)).astype(np.float32)
    effect = rng.normal(size=columns)
    y = (np.sin(x * effect) @ rng.normal(size=columns)).astype(np.float32)
    y = (y - y.mean()) / y.std()
    return torch.from_numpy(x), torch.from_numpy(y)


def batches(x, y, size):
    order = torch.randperm(len(x))
    for start in range(0, len(x) - size + 1, size):
        rows = order[start : start + size]
        yield x[rows], y[rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=128)
    args = parser.parse_args()

    torch.manual_seed(0)
    x, y = make_table(8192, args.columns)
    model = AdditiveModel(args.columns)
    optimizer_class = FlatLion if args.fixed else Lion
    optimizer = optimizer_class(model.parameters(), lr=3e-4)
    loss_fn = nn.MSELoss()
    for epoch in range(args.epochs):
        running = 0.0
        for features, target in batches(x, y, args.batch_size):
            loss = loss_fn(model(features), target)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            running += loss.item()
            tick()
        print(f"epoch {epoch + 1}/{args.epochs} mse {running / (len(x) // args.batch_size):.4f}")


if __name__ == "__main__":
    main()
