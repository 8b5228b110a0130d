"""Next-item prediction on a stream of shop sessions, with a window of recent ones kept around."""

import argparse
import collections
import gc
import random

import numpy as np
import torch
from step_clock import StepClock
from torch import nn

ZOO = {
    "id": "gc-pressure",
    "function": ["read_sessions", "SessionStream.__iter__"],
    "framework": "torch",
}

ITEMS = 5000


class Event:
    """A click. It knows its session and its neighbours, so that features can look around."""

    def __init__(self, session, item, previous):
        self.session = session
        self.item = item
        self.previous = previous
        self.next = None


class Session:
    def __init__(self, user):
        self.user = user
        self.events = []

    def click(self, item):
        last = self.events[-1] if self.events else None
        event = Event(self, item, last)
        if last is not None:
            last.next = event
        self.events.append(event)

    def items(self):
        return [event.item for event in self.events]


def read_sessions(block):
    """The lines of a block of the click log as linked sessions."""
    sessions = []
    for user, line in block:
        session = Session(user)
        for item in line:
            session.click(item)
        sessions.append(session)
    return sessions


class SessionStream:
    """Blocks of sessions in log order; the last blocks stay in a window to draw negatives from."""

    def __init__(self, blocks, size, length, window):
        self.blocks, self.size, self.length = blocks, size, length
        self.window = collections.deque(maxlen=window)
        rng = np.random.default_rng(0)
        start = rng.integers(ITEMS, size=(12, size, 1))
        walk = (start + rng.integers(1, 9, size=(12, size, length)).cumsum(axis=2)) % ITEMS
        self.log = [list(enumerate(block)) for block in walk.tolist()]

    def __iter__(self):
        for number in range(self.blocks):
            sessions = read_sessions(self.log[number % len(self.log)])
            self.window.append(sessions)
            yield sessions

    def negatives(self, n):
        block = random.choice(self.window)
        return [random.choice(random.choice(block).events).item for _ in range(n)]


class NextItem(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.items = nn.EmbeddingBag(ITEMS, dim, mode="mean")
        self.mix = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, dim))
        self.out = nn.Embedding(ITEMS, dim)

    def forward(self, history, candidates):
        taste = self.mix(self.items(history))
        return taste @ self.out(candidates).T


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=90)
    parser.add_argument("--block", type=int, default=1200, help="sessions a step")
    parser.add_argument("--length", type=int, default=30, help="clicks a session")
    parser.add_argument("--window", type=int, default=4, help="blocks kept")
    args = parser.parse_args()

    torch.manual_seed(0)
    random.seed(0)
    stream = SessionStream(args.steps, args.block, args.length, args.window)
    model = NextItem()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    if args.fixed:
        gc.freeze()
        gc.set_threshold(400_000, 20, 100)

    clock = StepClock()
    smooth = None
    for step, sessions in enumerate(stream):
        clicks = torch.tensor([session.items() for session in sessions])
        candidates = torch.cat([clicks[:, -1], torch.tensor(stream.negatives(200))])
        scores = model(clicks[:, :-1], candidates)
        loss = nn.functional.cross_entropy(scores, torch.arange(len(clicks)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smooth = loss.item() if smooth is None else 0.95 * smooth + 0.05 * loss.item()
        if step % 30 == 29:
            print(f"step {step + 1}: loss {smooth:.3f}")
        clock.tick()
    clock.dump()


if __name__ == "__main__":
    main()
