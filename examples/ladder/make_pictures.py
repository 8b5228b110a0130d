"""Make the pictures that the two trainings read: a text file of 28 lines for each digit.

They are the first ones of examples/data/digits.npz, whose digits are scikit-learn's real ones.
"""

import argparse
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent.parent / "data"


def make(digits, folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    with np.load(digits) as data:
        images, labels = data["images"][:count], data["labels"][:count]
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        np.savetxt(folder / f"{number:04d}_{label}.txt", image, fmt="%d")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digits", type=Path, default=DATA / "digits.npz")
    parser.add_argument("--out", type=Path, default=DATA / "pictures")
    parser.add_argument("--count", type=int, default=1_600)
    arguments = parser.parse_args()
    make(arguments.digits, arguments.out, arguments.count)
    print(f"wrote {arguments.count} pictures to {arguments.out}")
