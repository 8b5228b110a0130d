"""The script says itself what a step is: every second turn of its loop."""

from _busy import busy

import stepscope

for number in range(40):
    with stepscope.region("work"):
        busy(1.5)
    if number % 2:
        stepscope.step(samples=64)
