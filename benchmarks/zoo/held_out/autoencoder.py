"""Deep autoencoder for outlier scores on sensor windows (NumPy in, PyTorch inside)."""
import argparse

import numpy as np
import torch
from torch import nn

from step_clock import StepClock

ZOO = {"id": "float64-compute", "function": ["load_windows", "AutoEncoderDetector.fit", "AutoEncoderDetector.__init__", "AutoEncoderDetector._train_batch"], "framework": "torch"}


def load_windows(count=6000, length=128, single=False, seed=0):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, length)
    freq = rng.uniform(1, 6, (count, 1))
    phase = rng.uniform(0, 2 * np.pi, (count, 1))
    signal = np.sin(2 * np.pi * freq * t + phase) + 0.3 * np.sin(6 * np.pi * freq * t)
    signal += rng.normal(0, 0.05, signal.shape)
    signal = (signal - signal.mean()) / signal.std()
    return signal.astype(np.float32) if single else signal


def mlp(sizes):
    layers = []
    for i, o in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(i, o), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class AutoEncoderDetector:
    """scikit-learn-like estimator: fit(X), decision_function(X)."""

    def __init__(self, hidden=(512, 256, 12), lr=5e-4, epochs=4, batch_size=200, verbose=True):
        self.hidden, self.lr, self.epochs = hidden, lr, epochs
        self.batch_size, self.verbose = batch_size, verbose
        self.clock = StepClock()

    def _build(self, n_features, dtype):
        sizes = [n_features, *self.hidden]
        self.encoder = mlp(sizes).to(dtype)
        self.decoder = mlp(sizes[::-1]).to(dtype)
        params = [*self.encoder.parameters(), *self.decoder.parameters()]
        self.optimizer = torch.optim.SGD(params, lr=self.lr * 100, momentum=0.9, fused=True)

    def _train_batch(self, batch):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.decoder(self.encoder(batch)), batch)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, X):
        data = torch.from_numpy(X)
        self._build(data.shape[1], data.dtype)
        self.clock.start()
        for epoch in range(self.epochs):
            order = torch.randperm(len(data))
            losses = []
            for picked in order.split(self.batch_size):
                losses.append(self._train_batch(data[picked]))
                self.clock.tick()
            if self.verbose:
                print(f"epoch {epoch + 1}/{self.epochs}  mse {np.mean(losses):.3f}")
        return self

    @torch.no_grad()
    def decision_function(self, X):
        data = torch.from_numpy(X)
        return ((self.decoder(self.encoder(data)) - data) ** 2).mean(1).numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--fixed", action="store_true", help="use the faster variant")
    args = parser.parse_args()
    torch.manual_seed(0)
    X = load_windows(single=args.fixed)
    detector = AutoEncoderDetector(epochs=args.epochs).fit(X)
    scores = detector.decision_function(X[:500])
    print(f"outlier score: median {np.median(scores):.2f}, 99th percentile {np.percentile(scores, 99):.2f}")
    detector.clock.dump()


if __name__ == "__main__":
    main()
