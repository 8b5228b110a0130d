"""Say which loop is the training loop: wrap what it goes through."""

import random

import stepscope


def batches(count):
    for _ in range(count):
        yield [random.random() for _ in range(5_000)]


def main():
    random.seed(0)
    mean = 0.0
    for batch in stepscope.steps(batches(40)):
        mean += 0.1 * (sum(batch) / len(batch) - mean)
    print(f"{mean:.3f}")


if __name__ == "__main__":
    main()
