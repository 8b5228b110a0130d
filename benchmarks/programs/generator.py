"""A generator that is resumed once for each number."""

from timing import measure, profile


@profile
def numbers(count):
    number = 0
    while number < count:
        yield number
        number += 1


def work():
    sum(numbers(60_000))


if __name__ == "__main__":
    measure(work, rounds=5)
