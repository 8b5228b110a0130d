"""Implicit Q-learning from logged trajectories. A batch is 24 whole trajectories, however long."""

import argparse
import time

import torch
from timing import tick
from torch import nn

ZOO = {"id": None, "function": None, "framework": "torch"}

S_DIM, A_DIM, HIDDEN = 17, 6, 192
EXPECTILE, TEMPERATURE, DISCOUNT = 0.7, 3.0, 0.99


def collect(n_trajectories=1500):
    """Logged data of a random linear system: flat tensors, and where each trajectory begins."""
    lengths = torch.randint(10, 120, (n_trajectories,))
    ends = lengths.cumsum(0)
    total = int(ends[-1])
    states = torch.randn(total, S_DIM)
    actions = torch.tanh(states @ torch.randn(S_DIM, A_DIM) / 4 + 0.3 * torch.randn(total, A_DIM))
    nexts = 0.9 * states + 0.3 * actions @ torch.randn(A_DIM, S_DIM)
    rewards = -nexts.square().mean(1)
    dones = torch.zeros(total)
    dones[ends - 1] = 1.0
    return (states, actions, rewards, nexts, dones), ends - lengths, lengths


def sample(starts, lengths, how_many=24):
    """The rows of some trajectories, one after the other."""
    chosen = torch.randint(len(starts), (how_many,))
    length = lengths[chosen]
    first = torch.repeat_interleave(starts[chosen] - (length.cumsum(0) - length), length)
    return first + torch.arange(int(length.sum()))


def mlp(n_in, n_out):
    return nn.Sequential(
        nn.Linear(n_in, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, n_out),
    )


class IQL(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.q_target = mlp(S_DIM + A_DIM, 2), mlp(S_DIM + A_DIM, 2)
        self.q_target.load_state_dict(self.q.state_dict())
        self.q_target.requires_grad_(False)
        self.v, self.actor = mlp(S_DIM, 1), mlp(S_DIM, A_DIM)

    def losses(self, states, actions, rewards, nexts, dones):
        pairs = torch.cat([states, actions], 1)
        with torch.no_grad():
            target = self.q_target(pairs).min(1).values
            next_value = self.v(nexts).squeeze(1)
        value = self.v(states).squeeze(1)
        advantage = target - value
        weight = torch.where(advantage > 0, EXPECTILE, 1 - EXPECTILE)
        v_loss = (weight * advantage.square()).mean()
        backup = rewards + DISCOUNT * (1 - dones) * next_value
        q_loss = (self.q(pairs) - backup[:, None]).square().mean()
        importance = (TEMPERATURE * advantage.detach()).exp().clamp(max=100)
        pi_loss = (importance * (self.actor(states).tanh() - actions).square().sum(1)).mean()
        return v_loss, q_loss, pi_loss

    @torch.no_grad()
    def follow(self, rate=0.005):
        for slow, fast in zip(self.q_target.parameters(), self.q.parameters(), strict=True):
            slow.lerp_(fast, rate)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="changes nothing")
    parser.add_argument("--steps", type=int, default=350)
    args = parser.parse_args()
    torch.manual_seed(42)
    data, starts, lengths = collect()
    agent = IQL()
    trained = [p for p in agent.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=3e-4, fused=True)
    begin = time.time()
    for step in range(1, args.steps + 1):
        rows = sample(starts, lengths)
        v_loss, q_loss, pi_loss = agent.losses(*(column[rows] for column in data))
        optimizer.zero_grad(set_to_none=True)
        (v_loss + q_loss + pi_loss).backward()
        optimizer.step()
        agent.follow()
        if step % 70 == 0:
            print(
                f"[{step:4d}] v {v_loss.item():.3f} q {q_loss.item():.3f} pi {pi_loss.item():.3f}"
                f" rows {len(rows)} ({1000 * (time.time() - begin) / step:.1f} ms/step)"
            )
        tick()


if __name__ == "__main__":
    main()
