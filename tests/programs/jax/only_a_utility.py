"""NumPy trains; JAX only makes the targets."""

import jax
import numpy as np
from parts import batches

one_hot = jax.jit(lambda labels: jax.nn.one_hot(labels, 10))
weights = np.zeros((64, 10))
for images, labels in batches(30, size=2048):
    targets = np.asarray(one_hot(labels))
    error = images @ weights - targets
    for _ in range(5):
        gradient = images.T @ error / len(images)
    weights -= 0.1 * gradient
print(float(np.abs(weights).sum()).hex())
