"""Write digits of the data set as PNG files in colour, for the Keras training that starves."""

import argparse
from pathlib import Path

import numpy as np
import tensorflow as tf

DATA = Path(__file__).parent.parent / "data"
SIZE = 256


def coloured(picture, rng):
    """The digit, enlarged and in a colour of its own, on a noisy background."""
    large = tf.image.resize(picture[..., None], (SIZE, SIZE), method="bicubic").numpy()
    noise = rng.integers(0, 40, size=(SIZE, SIZE, 3))
    return np.clip(large * rng.uniform(0.4, 1, size=3) + noise, 0, 255).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--digits", type=Path, default=DATA / "digits.npz")
    parser.add_argument("--out", type=Path, default=DATA / "pngs")
    parser.add_argument("--count", type=int, default=256)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with np.load(arguments.digits) as data:
        images, labels = data["images"][: arguments.count], data["labels"]
    rng = np.random.default_rng(0)
    for number, picture in enumerate(images):
        file = arguments.out / f"{number:05d}_{labels[number]}.png"
        file.write_bytes(tf.io.encode_png(coloured(picture, rng)).numpy())
    print(f"wrote {len(images)} pictures of {SIZE}×{SIZE} pixels to {arguments.out}")


if __name__ == "__main__":
    main()
