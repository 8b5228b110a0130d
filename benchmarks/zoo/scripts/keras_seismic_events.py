"""Classify seismic events from three-component traces kept as compressed records (Keras)."""

import argparse
import base64
import json
import os
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from timing import tick

ZOO = {
    "id": "input-bound",
    "function": ["TraceSequence.__getitem__", "read_record"],
    "framework": "keras",
}

CLASSES = ("earthquake", "blast", "noise")


def make_record(rng, samples):
    """One archive record: JSON with the traces as deflated text of integer counts."""
    kind = int(rng.integers(len(CLASSES)))
    t = np.arange(samples) / 100.0
    onset = rng.uniform(0.5, 1.5)
    after = np.clip(t - onset, 0, None)
    traces = rng.normal(0, 0.2, (3, samples))
    if kind < 2:
        rate, tail = ((4.0, 1.2), (11.0, 0.4))[kind]
        wave = np.sin(2 * np.pi * rate * after) * np.exp(-after / tail) * (after > 0)
        traces += wave * rng.uniform(0.5, 1.5, (3, 1))
    counts = (traces * 1000).round().astype(int)
    text = ";".join(" ".join(map(str, row)) for row in counts.tolist())
    body = base64.b64encode(zlib.compress(text.encode())).decode()
    return json.dumps({"label": kind, "gain": 1000, "body": body})


def read_record(line):
    record = json.loads(line)
    text = zlib.decompress(base64.b64decode(record["body"])).decode()
    rows = [np.array(part.split(" "), dtype=np.float32) for part in text.split(";")]
    traces = np.stack(rows, axis=1) / record["gain"]
    traces -= traces.mean(axis=0)
    return traces, record["label"]


class TraceSequence(keras.utils.PyDataset):
    def __init__(self, lines, batch_size, preload=False):
        super().__init__(workers=1, use_multiprocessing=False)
        self.lines = lines
        self.batch_size = batch_size
        self.order = np.arange(len(lines))
        self.rng = np.random.default_rng(2)
        self.cache = None
        if preload:
            pairs = [read_record(line) for line in lines]
            self.cache = np.stack([p[0] for p in pairs]), np.array([p[1] for p in pairs])

    def __len__(self):
        return len(self.lines) // self.batch_size

    def __getitem__(self, index):
        pick = self.order[index * self.batch_size : (index + 1) * self.batch_size]
        if self.cache is not None:
            return self.cache[0][pick], self.cache[1][pick]
        pairs = [read_record(self.lines[i]) for i in pick]
        return np.stack([p[0] for p in pairs]), np.array([p[1] for p in pairs])

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


def build(samples):
    layers = keras.layers
    inputs = keras.Input((samples, 3))
    x = layers.Conv1D(12, 9, strides=2, activation="relu")(inputs)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(16, 7, strides=2, activation="relu")(x)
    x = layers.Conv1D(24, 5, activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    outputs = layers.Dense(len(CLASSES), activation="softmax")(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--samples", type=int, default=400)
    args = parser.parse_args()

    keras.utils.set_random_seed(4)
    rng = np.random.default_rng(4)
    lines = [make_record(rng, args.samples) for _ in range(1280)]
    traces = TraceSequence(lines, batch_size=32, preload=args.fixed)
    model = build(args.samples)
    for epoch in range(args.epochs):
        model.reset_metrics()
        for index in range(len(traces)):
            x, y = traces[index]
            logs = model.train_on_batch(x, y, return_dict=True)
            tick()
        traces.on_epoch_end()
        print(f"epoch {epoch}: loss {logs['loss']:.4f} accuracy {logs['accuracy']:.3f}")


if __name__ == "__main__":
    main()
