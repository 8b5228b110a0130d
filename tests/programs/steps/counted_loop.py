"""60 steps, all of which must run whatever is recorded of them."""

from _busy import busy

turns = 0
for turns in range(60):
    busy(25)
print("all done:", turns + 1)
