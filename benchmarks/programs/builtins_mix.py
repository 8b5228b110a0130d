"""A loop that calls a short function and many builtins: what data preparation looks like."""

from timing import measure, profile


@profile
def scaled(value):
    return value * 3 + 1


def work():
    rows, known = [], {}
    for number in range(30_000):
        rows.append(scaled(number))
        known.setdefault(number % 97, []).append(len(rows))
        if isinstance(number, int) and "x".join(("a", "b")).startswith("a"):
            max(number, 3)


if __name__ == "__main__":
    measure(work, rounds=5)
