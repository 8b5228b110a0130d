"""Trainings whose memory grows, each in its own way, and some whose memory only seems to:
memory_kinds.py KIND [STEPS]"""

import collections
import sys

import numpy as np

rng = np.random.default_rng(0)
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 120
WEIGHTS = rng.normal(0, 0.1, (256, 256)).astype(np.float32)


def train(x):
    """A few ms of work."""
    for _ in range(20):
        hidden = np.maximum(x @ WEIGHTS, 0)
        WEIGHTS[:] -= 1e-6 * (x.T @ hidden) / len(x)
    return hidden


def made(rows=512):
    return rng.normal(size=(rows, 256)).astype(np.float32)


def append():
    kept = []
    for _ in range(STEPS):
        hidden = train(made())
        kept.append(hidden)


def dictionary():
    cache = {}
    for step in range(STEPS):
        x = made()
        cache[step] = train(x)


def added():
    history = []
    for _ in range(STEPS):
        x = made()
        history += [train(x)]


def concatenated():
    seen = np.zeros((0, 256), np.float32)
    for _ in range(STEPS):
        hidden = train(made())
        seen = np.concatenate([seen, hidden])


class Recorder:
    def __init__(self):
        self.outputs = {}

    def remember(self, step, hidden):
        self.outputs[step] = hidden.copy()


def method():
    recorder = Recorder()
    for step in range(STEPS):
        hidden = train(made())
        recorder.remember(step, hidden)


def replay():
    """Would grow until memory is full: what it may hold is more."""
    buffer = collections.deque(maxlen=10_000_000)
    for _ in range(STEPS):
        hidden = train(made())
        buffer.append(hidden)


def fits():
    """Grows until it is full, after the run has ended; all of it fits."""
    buffer = collections.deque(maxlen=200)
    for _ in range(STEPS):
        hidden = train(made())
        buffer.append(hidden)


def filled():
    """A buffer that is full before a third of the run."""
    buffer = collections.deque(maxlen=STEPS // 4)
    for _ in range(STEPS):
        hidden = train(made())
        buffer.append(hidden)


def epochs():
    """What is kept is let go of at the end of each epoch."""
    for _ in range(6):
        outputs = []
        for _ in range(STEPS // 6):
            hidden = train(made())
            outputs.append(hidden)
        print(float(np.concatenate(outputs).mean()))


def settles():
    """Larger batches come up a few times in the first half: what the allocator has, it keeps."""
    kept = made()
    for step in range(STEPS):
        kept = train(made(256 + 64 * min(step // 8, 4)))
    print(kept.shape)


def numbers():
    losses = []
    for _ in range(STEPS):
        hidden = train(made())
        losses.append(float(hidden.mean()))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
