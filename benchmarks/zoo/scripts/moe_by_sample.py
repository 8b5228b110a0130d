"""Character model with a mixture of experts: each token goes to its two experts, one at a time."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {
    "id": "python-hot-loop",
    "also": ["eager-overhead"],
    "function": ["Mixture.by_token", "Mixture.forward"],
    "framework": "torch",
}


class Expert(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))


class Mixture(nn.Module):
    def __init__(self, width, experts, grouped):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(Expert(width) for _ in range(experts))
        self.grouped = grouped

    def by_token(self, x, weight, chosen):
        rows = []
        for token in range(len(x)):
            row = 0.0
            for slot in range(2):
                expert = self.experts[chosen[token, slot]]
                row = row + weight[token, slot] * expert(x[token])
            rows.append(row)
        return torch.stack(rows)

    def by_expert(self, x, weight, chosen):
        result = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == number)
            result = result.index_add(0, token, weight[token, slot, None] * expert(x[token]))
        return result

    def forward(self, x):
        weight, chosen = self.gate(x).softmax(dim=-1).topk(2, dim=-1)
        return (self.by_expert if self.grouped else self.by_token)(x, weight, chosen)


class Model(nn.Module):
    def __init__(self, letters, grouped, width=64):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.mixture = Mixture(3 * width, 6, grouped)
        self.head = nn.Linear(3 * width, letters)

    def forward(self, letters):
        x = self.embed(letters).flatten(1)
        return self.head(x + self.mixture(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(2)
    text = torch.randint(0, 40, (4000,)).cumsum(0) % 53
    model = Model(53, asked.fixed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for number in range(120):
        start = torch.randint(0, len(text) - 4, (64,))
        context = torch.stack([text[start + shift] for shift in range(3)], dim=1)
        loss = nn.functional.cross_entropy(model(context), text[start + 3])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 30 == 29:
            print(f"{number + 1}: {loss.item():.3f}")
        tick()


if __name__ == "__main__":
    main()
