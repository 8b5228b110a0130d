"""Fits a linear model by hand for as many seconds as it is told."""

import resource
import sys
import time

import numpy as np

random = np.random.default_rng(0)
inputs, targets = random.standard_normal((4096, 512)), random.standard_normal((4096, 16))
weights = np.zeros((512, 16))


def batches():
    for first in range(0, len(inputs), 256):
        yield inputs[first : first + 256], targets[first : first + 256]


def train_step(batch, target):
    global weights
    error = batch @ weights - target
    weights -= 1e-3 * batch.T @ error / len(batch)


end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for batch, target in batches():
        train_step(batch, target)

used = resource.getrusage(resource.RUSAGE_SELF)  # as whoever waits for us counts it
print(used.ru_utime + used.ru_stime)  # what comes after it is not the training
