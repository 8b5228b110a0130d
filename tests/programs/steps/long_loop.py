"""More steps than anybody waits for; says how far it came, and that it was left tidily."""

from _busy import busy

turns = 0
try:
    for turns in range(100_000):
        busy(2)
finally:
    print("left tidily after", turns, flush=True)
