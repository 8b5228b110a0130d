"""Steps of some milliseconds; the argument says how many times the work."""

import sys

WORK = int(float(sys.argv[1]) * 300_000)


def update(state):
    return state + sum(range(WORK))


state = 1
for step in range(150):
    state = update(state)
print(state)
