"""40 steps, each with a loop over 500 rows."""

from _busy import busy


def step(rows: range) -> float:
    total = 0.0
    for row in rows:
        total += row * 0.5
    busy(2)
    return total


for _number in range(40):
    step(range(500))
