"""Mean Teacher on digits with few labels: student, EMA teacher, consistency loss."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.optim import Optimizer

from timing import tick

ZOO = {"id": "optimizer-unfused", "function": "AdamW.step", "framework": "torch", "also": ["eager-overhead"]}


class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov & Hutter, 2019), written out."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-3):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                state["step"] += 1
                m, v = state["exp_avg"], state["exp_avg_sq"]
                p.mul_(1 - group["lr"] * group["weight_decay"])
                m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                c1 = 1 - beta1 ** state["step"]
                c2 = 1 - beta2 ** state["step"]
                denom = (v.sqrt() / c2 ** 0.5).add_(group["eps"])
                p.addcdiv_(m, denom, value=-group["lr"] / c1)


def create_optimizer(params, args):
    if args.fixed:
        return torch.optim.AdamW(params, lr=args.lr, weight_decay=1e-3, fused=True)
    return AdamW(params, lr=args.lr)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc2(F.relu(self.fc1(self.norm(x))))


def create_model(width=32, depth=20, ema=False):
    model = nn.Sequential(nn.Linear(64, width), *[Residual(width) for _ in range(depth)], nn.Linear(width, 10))
    if ema:
        model.requires_grad_(False)
    return model


@torch.no_grad()
def update_ema(student, teacher, alpha):
    torch._foreach_lerp_(list(teacher.parameters()), list(student.parameters()), 1 - alpha)


def main(args):
    torch.manual_seed(args.seed)
    raw = load_digits()
    x = torch.from_numpy(raw.data).float() / 16
    y = torch.from_numpy(raw.target)
    order = torch.randperm(len(x))
    labelled, unlabelled, test = order[:100], order[100:1400], order[1400:]
    student, teacher = create_model(), create_model(ema=True)
    teacher.load_state_dict(student.state_dict())
    optimizer = create_optimizer(student.parameters(), args)
    for step in range(args.steps):
        lab = labelled[torch.randint(len(labelled), (args.batch,))]
        unl = unlabelled[torch.randint(len(unlabelled), (args.batch,))]
        batch = torch.cat([x[lab], x[unl]])
        logits = student(batch + 0.1 * torch.randn_like(batch))
        with torch.no_grad():
            targets = teacher(batch + 0.1 * torch.randn_like(batch)).softmax(1)
        class_loss = F.cross_entropy(logits[:args.batch], y[lab])
        consistency = F.mse_loss(logits.softmax(1), targets)
        weight = args.consistency * min(1.0, step / args.rampup)
        optimizer.zero_grad()
        (class_loss + weight * consistency).backward()
        optimizer.step()
        update_ema(student, teacher, min(1 - 1 / (step + 1), args.ema_decay))
        tick()
        if step % args.log_every == 0:
            print(f"step {step:4d}  class {class_loss.item():.3f}  consistency {consistency.item():.4f}")
    with torch.no_grad():
        acc = (teacher(x[test]).argmax(1) == y[test]).float().mean().item()
    print(f"teacher test accuracy {acc:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--ema-decay", type=float, default=0.99)
    parser.add_argument("--consistency", type=float, default=10.0)
    parser.add_argument("--rampup", type=int, default=200)
    parser.add_argument("--log-every", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fixed", action="store_true", help="use the faster variant")
    main(parser.parse_args())
