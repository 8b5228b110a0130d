"""A short function that calls itself."""

from timing import measure, profile


@profile
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def work():
    fibonacci(22)


if __name__ == "__main__":
    measure(work, rounds=5)
