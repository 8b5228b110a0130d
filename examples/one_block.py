"""Record one block of a program that runs on: a notebook, a server."""

import sys

import stepscope


def fit(rounds):
    estimate = 1.0
    for _ in range(rounds):
        for _ in range(2_000):
            estimate = 0.5 * (estimate + 2.0 / estimate)
    return estimate


def main(folder):
    with stepscope.Profiler(folder):
        estimate = fit(50)
    print(f"{estimate:.6f}")


if __name__ == "__main__":
    main(sys.argv[1])
