"""Three cheap lines in a loop: the most expensive case for a line profiler."""

from timing import measure, profile


@profile
def work(turns=1_000_000):
    total = 0
    for number in range(turns):
        total += number
        total ^= 3
    return total


if __name__ == "__main__":
    measure(work, rounds=3)
