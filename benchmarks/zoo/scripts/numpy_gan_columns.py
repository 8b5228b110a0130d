"""A GAN of small pictures in NumPy; its critic cuts patches out of every picture by hand."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": "python-hot-loop", "function": ["patches"], "framework": "numpy"}
SIDE, PATCH = 12, 3


def patches(pictures):
    """Each window of three by three, as a row."""
    out = SIDE - PATCH + 1
    rows = np.empty((len(pictures), out * out, PATCH * PATCH))
    for number in range(len(pictures)):
        for y in range(out):
            for x in range(out):
                window = pictures[number, y : y + PATCH, x : x + PATCH]
                rows[number, y * out + x] = window.ravel()
    return rows


def patches_at_once(pictures):
    windows = np.lib.stride_tricks.sliding_window_view(pictures, (PATCH, PATCH), axis=(1, 2))
    return windows.reshape(len(pictures), -1, PATCH * PATCH)


class Critic:
    def __init__(self, rng, cut, kernels=16):
        self.cut = cut
        self.kernel = 0.3 * rng.normal(size=(PATCH * PATCH, kernels))
        self.weight = 0.1 * rng.normal(size=kernels)

    def judge(self, pictures):
        self.rows = self.cut(pictures)
        self.hidden = np.maximum(self.rows @ self.kernel, 0)
        self.mean = self.hidden.mean(axis=1)
        return 1 / (1 + np.exp(-self.mean @ self.weight))

    def learn(self, wrong, rate):
        """And what the pictures' patches would rather be."""
        back = wrong[:, None] * self.weight
        spread = (self.hidden > 0) * back[:, None, :] / self.hidden.shape[1]
        asked = spread @ self.kernel.T
        if rate:
            self.weight -= rate * self.mean.T @ wrong
            self.kernel -= rate * np.einsum("npk,nph->kh", self.rows, spread)
        return asked


class Maker:
    def __init__(self, rng):
        self.first = 0.2 * rng.normal(size=(8, 96))
        self.second = 0.1 * rng.normal(size=(96, SIDE * SIDE))

    def make(self, noise):
        self.noise, self.hidden = noise, np.tanh(noise @ self.first)
        return np.tanh(self.hidden @ self.second).reshape(-1, SIDE, SIDE)

    def learn(self, pictures, slope, rate):
        inner = slope.reshape(len(slope), -1) * (1 - pictures.reshape(len(slope), -1) ** 2)
        before = inner @ self.second.T * (1 - self.hidden**2)
        self.second -= rate * self.hidden.T @ inner
        self.first -= rate * self.noise.T @ before


def folded(asked):
    """Patches back into pictures."""
    out = SIDE - PATCH + 1
    slope, cells = np.zeros((len(asked), SIDE, SIDE)), asked.reshape(-1, out, out, PATCH * PATCH)
    for at in range(PATCH * PATCH):
        y, x = divmod(at, PATCH)
        slope[:, y : y + out, x : x + out] += cells[..., at]
    return slope


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    rng = np.random.default_rng(12)
    critic = Critic(rng, patches_at_once if asked.fixed else patches)
    maker = Maker(rng)
    grid = np.linspace(-2, 2, SIDE)
    for number in range(120):
        centre = rng.normal(0, 0.4, (48, 2))
        real = np.exp(
            -((grid - centre[:, :1]) ** 2)[:, None, :] - ((grid - centre[:, 1:]) ** 2)[:, :, None]
        )
        said = critic.judge(real)
        critic.learn((said - 1) / len(said), 0.05)
        drawn = maker.make(rng.normal(size=(48, 8)))
        said = critic.judge(drawn)
        critic.learn(said / len(said), 0.05)
        maker.learn(drawn, folded(critic.learn((said - 1) / len(said), 0.0)), 0.05)
        if number % 30 == 29:
            print(f"{number + 1}: the critic believes {said.mean():.3f}")
        tick()


if __name__ == "__main__":
    main()
