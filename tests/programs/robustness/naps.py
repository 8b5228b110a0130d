"""Steps that wait, and an exit status of its own."""

import time


def step():
    time.sleep(0.002)


for _ in range(60):
    step()
raise SystemExit(7)
