"""A Keras classifier of handwriting whose own data set draws each stroke in Python."""

import argparse

import keras
import numpy as np
from timing import tick

ZOO = {
    "id": "input-bound",
    "function": ["Strokes.__getitem__", "drawn"],
    "framework": "keras",
}
SIDE = 24


def drawn(points):
    """A picture of a line through these points."""
    picture = np.zeros((SIDE, SIDE), np.float32)
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        for part in range(60):
            x = x0 + (x1 - x0) * part / 60
            y = y0 + (y1 - y0) * part / 60
            picture[int(y), int(x)] = min(1.0, picture[int(y), int(x)] + 0.5)
    return picture


class Strokes(keras.utils.PyDataset):
    def __init__(self, points, kinds, once, size=32):
        super().__init__()
        self.points, self.kinds, self.size = points, kinds, size
        self.pictures = np.stack([drawn(each) for each in points]) if once else None

    def __len__(self):
        return len(self.points) // self.size

    def __getitem__(self, index):
        rows = slice(index * self.size, (index + 1) * self.size)
        if self.pictures is not None:
            return self.pictures[rows, ..., None], self.kinds[rows]
        pictures = [drawn(each) for each in self.points[rows]]
        return np.stack(pictures)[..., None], self.kinds[rows]


class Ticks(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        tick()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    keras.utils.set_random_seed(3)
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 6, 3200)
    centres = rng.uniform(3, SIDE - 3, (6, 9, 2))
    points = np.clip(centres[kinds] + rng.normal(0, 1.0, (3200, 9, 2)), 0, SIDE - 1).tolist()
    model = keras.Sequential(
        [
            keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(48, activation="relu"),
            keras.layers.Dense(6),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    data = Strokes(points, kinds, asked.fixed)
    model.fit(data, epochs=4, verbose=2, callbacks=[Ticks()])


if __name__ == "__main__":
    main()
