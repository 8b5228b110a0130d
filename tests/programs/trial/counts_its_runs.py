"""Reads its data file, writes over it, and stops if it is not what it was at first."""

import sys
import time

with open("data.txt") as file:
    text = file.read()
if text != "original":
    raise SystemExit(f"the data was {text!r}")
with open("data.txt", "w") as file:
    file.write("spoiled")
with open("made.txt", "x") as file:
    file.write("new")
for elsewhere in sys.argv[1:]:
    with open(elsewhere, "a") as file:
        file.write("one run\n")

for _step in range(500):
    time.sleep(0.01)
