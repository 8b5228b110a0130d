"""30 steps of a generator and its discriminator: an inner loop of two turns."""

from _busy import busy

for _number in range(30):
    for _network in ("generator", "discriminator"):
        busy(2)
