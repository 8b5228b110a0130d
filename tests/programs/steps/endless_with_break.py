"""`while True` that is left after 35 steps."""

from _busy import busy

done = 0
while True:
    busy(2)
    done += 1
    if done == 35:
        break
