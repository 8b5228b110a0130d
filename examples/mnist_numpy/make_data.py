"""Make the example's data set once: 60,000 pictures of 28x28 from scikit-learn's real digits.

Each of the 1,797 digits is drawn three times as large and put on an empty 28x28 picture,
shifted by a few pixels at random. The pictures are stored compressed, as MNIST is.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

DATA = Path(__file__).parent.parent / "data" / "digits.npz"
SIZE = 28
LARGEST_SHIFT = 4  # 8 * 3 = 24 pixels of 28: any shift from 0 to 4 fits


def enlarge(images):
    """8x8 with values 0..16 to 24x24 with values 0..255."""
    return (images.repeat(3, axis=1).repeat(3, axis=2) * 255 / 16).astype(np.uint8)


def shifted(images, rng):
    """Each picture on an empty 28x28 one, at a random place."""
    result = np.zeros((len(images), SIZE, SIZE), dtype=np.uint8)
    places = rng.integers(0, LARGEST_SHIFT + 1, size=(len(images), 2))
    for picture, image, (top, left) in zip(result, images, places, strict=True):
        picture[top : top + 24, left : left + 24] = image
    return result


def make(path, count, seed=0):
    rng = np.random.default_rng(seed)
    digits = load_digits()
    chosen = rng.integers(0, len(digits.images), size=count)
    images = shifted(enlarge(digits.images)[chosen], rng)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, images=images, labels=digits.target[chosen].astype(np.uint8))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=DATA)
    parser.add_argument("--count", type=int, default=60_000)
    arguments = parser.parse_args()
    make(arguments.out, arguments.count)
    print(f"wrote {arguments.count} pictures to {arguments.out}")
