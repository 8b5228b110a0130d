"""Churn prediction with Keras; the log shows the AUC of recent batches with its uncertainty."""

import argparse
import os

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from step_clock import StepClock

ZOO = {
    "id": "host-code",
    "function": ["RecentAuc.update", "RecentAuc.interval", "auc"],
    "framework": "keras",
}


def make_customers(n, rng):
    x = rng.normal(size=(n, 40)).astype("float32")
    score = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * x[:, 3:10].sum(axis=1)
    y = (score + rng.normal(size=n) > 0.5).astype("float32")
    return x, y


def auc(scores, labels):
    """Area under the ROC curve from the ranks."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1, len(scores) + 1)
    positives = labels.sum()
    negatives = len(labels) - positives
    area = ranks[labels > 0].sum() - positives * (positives + 1) / 2
    return area / max(1.0, positives * negatives)


class RecentAuc:
    """AUC over a sliding window of predictions, with a bootstrap interval."""

    def __init__(self, window=4096, resamples=40, every=1):
        self.window, self.resamples, self.every = window, resamples, every
        self.scores = np.zeros(0, dtype="float32")
        self.labels = np.zeros(0, dtype="float32")
        self.rng = np.random.default_rng(0)
        self.batches = 0
        self.value = self.low = self.high = float("nan")

    def interval(self):
        areas = []
        for _ in range(self.resamples):
            rows = self.rng.integers(len(self.scores), size=len(self.scores))
            areas.append(auc(self.scores[rows], self.labels[rows]))
        return np.percentile(areas, [2.5, 97.5])

    def update(self, scores, labels):
        self.scores = np.concatenate([self.scores, scores])[-self.window :]
        self.labels = np.concatenate([self.labels, labels])[-self.window :]
        self.batches += 1
        if self.batches % self.every == 0:
            self.value = auc(self.scores, self.labels)
            self.low, self.high = self.interval()


class Churn(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential(
            [
                keras.layers.Dense(256, activation="relu"),
                keras.layers.Dropout(0.1),
                keras.layers.Dense(256, activation="relu"),
                keras.layers.Dense(1, activation="sigmoid"),
            ]
        )

    def call(self, x, training=False):
        return self.body(x, training=training)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=256)
    args = parser.parse_args()

    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x, y = make_customers(16_384, rng)
    model = Churn()
    model.compile(optimizer="adam", loss="binary_crossentropy")
    log_every = 64
    recent = RecentAuc(every=log_every if args.fixed else 1)

    clock = StepClock()
    step = 0
    for epoch in range(args.epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), args.batch_size):
            rows = order[start : start + args.batch_size]
            scores = model.predict_on_batch(x[rows])[:, 0]
            recent.update(scores, y[rows])
            loss = model.train_on_batch(x[rows], y[rows])
            step += 1
            if step % log_every == 0:
                print(
                    f"epoch {epoch} step {step} loss {float(loss):.4f} "
                    f"auc {recent.value:.3f} ({recent.low:.3f} to {recent.high:.3f})"
                )
            clock.tick()
    clock.dump()


if __name__ == "__main__":
    main()
