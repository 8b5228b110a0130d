"""An autoencoder in NumPy writes a compressed checkpoint every second step."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": "checkpoint-stall", "function": "save_checkpoint", "framework": "numpy"}


class Autoencoder:
    def __init__(self, inputs, code, rng):
        self.encoder = rng.normal(0, 1 / np.sqrt(inputs), (inputs, code)).astype(np.float32)
        self.decoder = rng.normal(0, 1 / np.sqrt(code), (code, inputs)).astype(np.float32)
        self.momentum = [np.zeros_like(self.encoder), np.zeros_like(self.decoder)]

    def step(self, x, rate):
        code = np.tanh(x @ self.encoder)
        error = code @ self.decoder - x
        d_code = (error @ self.decoder.T) * (1 - code**2)
        gradients = [x.T @ d_code / len(x), code.T @ error / len(x)]
        weights = [self.encoder, self.decoder]
        for weight, momentum, gradient in zip(weights, self.momentum, gradients, strict=True):
            momentum *= 0.9
            momentum += gradient
            weight -= rate * momentum
        return float((error**2).mean())


def save_checkpoint(model, step):
    np.savez_compressed(
        "checkpoint.npz",
        encoder=model.encoder,
        decoder=model.decoder,
        momentum_encoder=model.momentum[0],
        momentum_decoder=model.momentum[1],
        step=step,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    every = arguments.steps - 1 if arguments.fixed else 2

    rng = np.random.default_rng(0)
    basis = rng.normal(size=(12, 512)) / np.sqrt(12)
    data = (rng.normal(size=(4000, 12)) @ basis).astype(np.float32)
    model = Autoencoder(512, 96, rng)
    for step in range(arguments.steps):
        loss = model.step(data[rng.integers(0, len(data), 1024)], rate=0.02)
        if step % every == every - 1:
            save_checkpoint(model, step)
        if step % 20 == 0:
            print(f"step {step}: {loss:.4f}")
        tick()


if __name__ == "__main__":
    main()
