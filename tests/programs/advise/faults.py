"""Small trainings in NumPy, each with one known fault: faults.py KIND [STEPS]"""

import gc
import json
import os
import sys
import tempfile

import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(4096, 128)).astype(np.float32)
Y = rng.integers(0, 10, 4096)
FOLDER = tempfile.mkdtemp()
np.savez(os.path.join(FOLDER, "data.npz"), x=np.repeat(X, 4, 0), y=np.repeat(Y, 4))
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 40


class Net:
    def __init__(self):
        self.w1 = rng.normal(0, 0.1, (128, 256)).astype(np.float32)
        self.w2 = rng.normal(0, 0.1, (256, 10)).astype(np.float32)

    def scores(self, x):
        self.hidden = np.maximum(x @ self.w1, 0)
        return self.hidden @ self.w2

    def train(self, x, y):
        scores = self.scores(x)
        hidden = self.hidden
        scores -= scores.max(1, keepdims=True)
        p = np.exp(scores)
        p /= p.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
        p[np.arange(len(y)), y] -= 1
        p /= len(y)
        back = (p @ self.w2.T) * (hidden > 0)
        self.w2 -= 0.1 * hidden.T @ p
        self.w1 -= 0.1 * x.T @ back
        return float(loss)


def batch(step, size=512):
    chosen = np.arange(step * size, (step + 1) * size) % len(X)
    return X[chosen], Y[chosen]


def read_batch(step):
    with np.load(os.path.join(FOLDER, "data.npz")) as data:
        x, y = data["x"], data["y"]
    chosen = np.arange(step * 512, (step + 1) * 512) % len(x)
    return x[chosen], y[chosen]


def repeated_load(net):
    for step in range(STEPS):
        x, y = read_batch(step)
        net.train(x, y)


def clipped(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(0, x.shape[1], 4):
            value = x[i, j]
            out[i, j] = value if value < 2 else 2
    return out


def hot_loop(net):
    for step in range(STEPS):
        x, y = batch(step)
        net.train(clipped(x), y)


def write_log(step, loss, net):
    with open(os.path.join(FOLDER, "log.jsonl"), "a") as file:
        json.dump({"step": step, "loss": loss, "weights": net.w1[:48].tolist()}, file)


def logging(net):
    for step in range(STEPS):
        x, y = batch(step)
        loss = net.train(x, y)
        write_log(step, loss, net)


def save(net, step):
    with open(os.path.join(FOLDER, f"weights-{step % 3}.npz"), "wb") as file:
        np.savez_compressed(file, w1=net.w1, w2=net.w2)


def checkpoint(net):
    for step in range(STEPS):
        x, y = batch(step)
        net.train(x, y)
        save(net, step)


def evaluate(net):
    return float((net.scores(X).argmax(1) == Y).mean())


def evaluation(net):
    history = []
    for step in range(STEPS):
        x, y = batch(step)
        net.train(x, y)
        history.append(evaluate(net))


def spectrum(net):
    return np.linalg.svd(net.w1, compute_uv=False).max()


def host(net):
    largest = []
    for step in range(STEPS):
        x, y = batch(step)
        net.train(x, y)
        norm = spectrum(net)
        largest.append(norm)


def batches():
    for step in range(STEPS):
        order = np.argsort(rng.random((512, 1024)), axis=1)
        x, y = batch(step)
        yield x + order[:, :128] * np.float32(1e-9), y


def generator(net):
    for x, y in batches():
        net.train(x, y)


def memory(net):
    kept = []
    for step in range(STEPS):
        x, y = batch(step)
        net.train(x, y)
        kept.append(np.ones((512, 1024), np.float32) * step)


def garbage(net):
    keep = [[index] for index in range(1_500_000)]
    for step in range(STEPS):
        x, y = batch(step, 2048)
        net.train(x, y)
        if step % 25 == 20:
            gc.collect()
    return len(keep)


class Node:
    """A number of a graph: its closure refers to it, so only the collector can free it."""

    def __init__(self, value, *made_of):
        self.value, self.gradient = value, 0.0
        self.made_of = set(made_of)
        self.pull = lambda: [each.give(self.gradient) for each in made_of]

    def give(self, gradient):
        self.gradient += gradient


def objects(_net):
    weights = [Node(0.01 * index) for index in range(100)]
    for _ in range(STEPS):
        total = Node(0.0)
        for _ in range(25):
            for weight in weights:
                total = Node(total.value + weight.value, total, weight)
        total.gradient = 1.0
        for weight in weights:
            weight.value -= 1e-3 * total.value


def collected(net):
    keep = [[index] for index in range(300_000)]
    for step in range(STEPS):
        x, y = batch(step, 1024)
        net.train(x, y)
        gc.collect()
    return len(keep)


def healthy(net):
    for epoch in range(3):
        for step in range(STEPS // 3):
            x, y = batch(step)
            loss = net.train(x, y)
            if step % 10 == 0:
                print(f"{epoch} {step} {loss:.3f}")
        print("accuracy", evaluate(net))


def recurrent(_net):
    w = rng.normal(0, 0.05, (192, 192)).astype(np.float32)
    u = rng.normal(0, 0.05, (128, 192)).astype(np.float32)
    for step in range(STEPS):
        x, _ = batch(step, 64 * 64)
        x = x.reshape(64, 64, 128)
        h = np.zeros((64, 192), np.float32)
        for t in range(64):
            h = np.tanh(x[:, t] @ u + h @ w)
        w -= 1e-3 * (h.T @ h) / len(h)


if __name__ == "__main__":
    globals()[sys.argv[1]](Net())
