"""Normalisation, activation and attention are spelled out in elementary operators."""

import argparse
import math

import torch
import torch.nn.functional as F
from timing import tick
from torch import nn

ZOO = {
    "id": "eager-overhead",
    "function": ["Layer.attend_by_head", "Layer.forward"],
    "framework": "torch",
}

WIDTH, HEADS, LENGTH, BATCH = 32, 8, 12, 4


def normalise(x):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred * centred).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance + 1e-5)


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


class Layer(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.down = nn.Linear(2 * WIDTH, WIDTH)
        self.fused = fused

    def attend_by_head(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        size = WIDTH // HEADS
        heads = []
        for h in range(HEADS):
            part = slice(h * size, (h + 1) * size)
            scores = q[..., part] @ k[..., part].transpose(1, 2) / math.sqrt(size)
            weights = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
            heads.append((weights / weights.sum(dim=-1, keepdim=True)) @ v[..., part])
        return self.out(torch.cat(heads, dim=-1))

    def attend(self, x):
        q, k, v = (
            part.view(len(x), LENGTH, HEADS, -1).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        if self.fused:
            x = x + self.attend(F.layer_norm(x, (WIDTH,)))
            return x + self.down(F.gelu(self.up(F.layer_norm(x, (WIDTH,))), approximate="tanh"))
        x = x + self.attend_by_head(normalise(x))
        return x + self.down(gelu(self.up(normalise(x))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    fused = parser.parse_args().fixed
    torch.manual_seed(0)
    model = nn.Sequential(*[Layer(fused) for _ in range(6)], nn.Linear(WIDTH, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for step in range(120):
        x = torch.randn(BATCH, LENGTH, WIDTH)
        y = x[:, :, :1].cumsum(dim=1) / 3
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")
        tick()


if __name__ == "__main__":
    main()
