"""REINFORCE: every step plays games without gradients first, as it must."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": None, "function": None, "framework": "torch"}


class Corridor:
    """Many walkers who should get to the right end."""

    def __init__(self, walkers, length=10):
        self.length = length
        self.places = torch.zeros(walkers, dtype=torch.long)

    def seen(self):
        return nn.functional.one_hot(self.places, self.length).float()

    def move(self, right):
        self.places = (self.places + 2 * right - 1).clamp(0, self.length - 1)
        return (self.places == self.length - 1).float()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.head = nn.Linear(256, 2)

    def forward(self, seen):
        return self.head(self.body(seen)).log_softmax(dim=-1)


@torch.no_grad()
def play(policy, walkers=192, moves=16):
    """What was seen, what was done, and what it brought in the end."""
    corridor, seen, done, rewards = Corridor(walkers), [], [], []
    for _ in range(moves):
        seen.append(corridor.seen())
        done.append(torch.multinomial(policy(seen[-1]).exp(), 1).squeeze(1))
        rewards.append(corridor.move(done[-1]))
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    return torch.stack(seen), torch.stack(done), returns


def improve(policy, optimizer):
    seen, done, returns = play(policy)
    chosen = policy(seen).gather(2, done[..., None]).squeeze(-1)
    loss = -(chosen * (returns - returns.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return returns[0].mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    torch.manual_seed(21)
    policy = Policy()
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.05)
    for game in range(1, 121):
        reward = improve(policy, optimizer)
        if game % 30 == 0:
            print(f"{game}: {reward.item():.2f}")
        tick()


if __name__ == "__main__":
    main()
