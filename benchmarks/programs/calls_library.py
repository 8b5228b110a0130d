"""A profiled line calls code that is not profiled."""

import library
from timing import measure, profile


@profile
def work():
    total = 0
    for _ in range(400):
        total += library.busy(3_000)
    return total


if __name__ == "__main__":
    measure(work, rounds=3)
